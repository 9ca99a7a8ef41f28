#!/bin/sh
# What scripts/test.sh runs of OpenCL: all tests on PoCL, a module outside this one, and some kernels under Oclgrind.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
. scripts/pocl.sh

step() { echo "== $*"; }

# Kernels under Oclgrind have one thread for most of the time: beside PoCL's compiler they leave no core idle at the end.
mkdir -p .build
scripts/oclgrind.sh hashgrid nn optim linalg fft >.build/oclgrind.log 2>&1 &
oclgrind=$!
trap wait EXIT

# PoCL compiles one kernel at a time in a process, so those of kernels have processes of their own: of all packages, and of
# ./tensor in the forms for GPUs.
export CLGRAD_TEST_DEVICES=cpu,pocl CLGRAD_REQUIRE_OPENCL=1 CLGRAD_REQUIRE_NUMPY=1
check() { $GO test -vet=off -timeout 60m -tags opencl "$@"; }
step the Go device and PoCL
check -run '^TestGPUKernels$' ./tensor >.build/gpukernels.log 2>&1 &
gpu=$!
check -run '^TestKernels$' ./tensor ./fusedmlp ./hashgrid ./imagefit ./nn ./optim ./linalg ./fft ./internal/recurrent >.build/kernels.log 2>&1 &
kernels=$!
status=0
check -skip '^Test(GPU)?Kernels$' ./tensor ./replay ./autograd ./cmd/mlpimage ./imagefit ./... || status=1
wait $kernels || status=1
wait $gpu || status=1
cat .build/kernels.log .build/gpukernels.log
[ $status = 0 ]

step modules outside this one
(cd examples/customop && $GO vet -tags opencl . && $GO test -tags opencl .)
(cd examples/customfusion && $GO vet -tags opencl . && $GO test -tags opencl .)

step kernels under Oclgrind
wait $oclgrind || status=1
cat .build/oclgrind.log
exit $status
