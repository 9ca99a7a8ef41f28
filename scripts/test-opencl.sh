#!/bin/sh
# What scripts/test.sh runs of OpenCL: all tests on PoCL, a module outside this one, and some kernels under Oclgrind.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
. scripts/pocl.sh

step() { echo "== $*"; }

# Kernels under Oclgrind have one thread for most of the time: beside PoCL's compiler they leave no core idle at the end.
mkdir -p .build
scripts/oclgrind.sh hashgrid nn optim >.build/oclgrind.log 2>&1 &
oclgrind=$!
trap wait EXIT

# What takes longest begins first, so that no core waits for it at the end.
step the Go device and PoCL
CLGRAD_TEST_DEVICES=cpu,pocl CLGRAD_REQUIRE_OPENCL=1 CLGRAD_REQUIRE_NUMPY=1 $GO test -vet=off -timeout 60m -tags opencl \
	./tensor ./replay ./autograd ./cmd/mlpimage ./imagefit ./...

step a module outside this one
(cd examples/customop && $GO vet -tags opencl . && CLGRAD_TEST_DEVICES=cpu,pocl $GO test -tags opencl .)

step kernels under Oclgrind
status=0
wait $oclgrind || status=1
cat .build/oclgrind.log
exit $status
