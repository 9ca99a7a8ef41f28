#!/bin/sh
# What scripts/test.sh runs of OpenCL: on PoCL a form of each kernel, every operation and recorded steps; modules outside
# this one; some kernels under Oclgrind.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
. scripts/pocl.sh

began=$(date +%s)
step() { echo "== $(($(date +%s) - began)) s: $*"; }

# PoCL compiles one kernel at a time in a process, so those of kernels have processes of their own.
export CLGRAD_TEST_DEVICES=pocl CLGRAD_REQUIRE_OPENCL=1
check() { $GO test -vet=off -timeout 30m -tags opencl "$@"; }
mkdir -p .build
step PoCL
check -short -run '^Test(GPU)?Kernels$' -skip '/float64' ./tensor ./fusedmlp ./hashgrid ./imagefit ./nn ./optim ./linalg ./fft ./internal/recurrent >.build/kernels.log 2>&1 &
kernels=$!
status=0
check ./internal/catalog ./internal/selftestargs || status=1
check -run '^Test(Rewrites|RandomSteps|RandomRows)$' ./replay || status=1
wait $kernels || status=1
cat .build/kernels.log
[ $status = 0 ]

step modules outside this one
(cd examples/customop && $GO vet -tags opencl . && $GO test -tags opencl .)
(cd examples/customfusion && $GO vet -tags opencl . && $GO test -tags opencl .)

step kernels under Oclgrind
scripts/oclgrind.sh optim fft
