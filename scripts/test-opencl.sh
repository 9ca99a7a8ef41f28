#!/bin/sh
# What scripts/test.sh runs of OpenCL: all tests on PoCL, a module outside this one, and the kernels under Oclgrind. The
# arguments are packages whose tests begin first.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

step() { echo "== $*"; }

# Kernels under Oclgrind have one thread for most of the time: beside PoCL's compiler they leave no core idle at the end.
mkdir -p .build
scripts/oclgrind.sh >.build/oclgrind.log 2>&1 &
oclgrind=$!
trap wait EXIT

step PoCL
CLGRAD_TEST_DEVICES=cpu,pocl CLGRAD_REQUIRE_OPENCL=1 CLGRAD_REQUIRE_CHROMIUM=1 CLGRAD_REQUIRE_NUMPY=1 $GO test -vet=off -timeout 60m -tags opencl "$@" ./...

step a module outside this one
(cd examples/customop && $GO vet . && CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu $GO test . &&
	CLGRAD_TEST_DEVICES=cpu,pocl $GO test -tags opencl .)

step kernels under Oclgrind
status=0
wait $oclgrind || status=1
cat .build/oclgrind.log
exit $status
