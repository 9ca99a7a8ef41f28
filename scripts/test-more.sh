#!/bin/sh
# Tests that need daemons of their own, a third OpenCL, another processor or more time: a real Slurm of one node, Mesa's
# rusticl, linux/386, linux/arm64 under QEMU, and the trials of all kernels. A test says why it is skipped.
# CGO_CFLAGS comes from the Makefile.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

echo "== a real Slurm"
CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu CLGRAD_MORE=1 $GO test -count=1 -v -run '^TestSlurm$' ./cmd/mlpimage

echo "== the trials of all kernels in all forms"
CLGRAD_MORE=1 CLGRAD_TEST_DEVICES=pocl $GO test -tags opencl -count=1 -timeout 20m -run '^TestTrialsAgree$' ./tensor

echo "== sums of a hundred million elements"
CLGRAD_MORE=1 CLGRAD_TEST_DEVICES=cpu,pocl $GO test -tags opencl -count=1 -timeout 30m -run '^TestLong(Sums|SumsOfViews|SumsOfOnes|Statistics|ProductSums)$' ./tensor

engine="./internal/vec ./kernels ./tensor ./autograd ./optim ./nn ./replay"

echo "== the Go device on linux/386"
# shellcheck disable=SC2086 # the list is meant to be split
GOARCH=386 CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu $GO test -short $engine

if command -v qemu-aarch64-static >/dev/null; then
	echo "== the Go device on linux/arm64, under QEMU"
	# shellcheck disable=SC2086
	GOARCH=arm64 CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu CLGRAD_TEST_EMULATED=1 $GO test -short -timeout 30m -exec qemu-aarch64-static $engine
else
	echo "== linux/arm64: skipped, there is no qemu-aarch64-static"
fi

export RUSTICL_ENABLE=llvmpipe
if grep -qs -i rusticl /etc/OpenCL/vendors/*.icd; then
	# It has no float64.
	echo "== Mesa's rusticl on llvmpipe"
	CLGRAD_TEST_DEVICES=rusticl $GO test -tags opencl -short -timeout 30m -run '^TestKernels$|^TestRusticl' -skip '/rusticl/float64' ./tensor ./imagefit
else
	echo "== rusticl: skipped, no driver is registered"
fi
