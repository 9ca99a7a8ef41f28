#!/bin/sh
# What scripts/test-more.sh runs of OpenCL's compilers, which have one thread each: all tests on PoCL with kernels optimized as
# in programs, the trials of all kernels, and Mesa's rusticl.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
began=$(date +%s)
step() { echo "== $(($(date +%s) - began)) s: $*"; }
. scripts/pocl.sh

# Of packages whose tests reach no OpenCL, make test runs all that there is.
tests=$($GO list -tags opencl -test -f '{{.ImportPath}} {{.Deps}}' ./...)
reach=$(echo "$tests" | grep '/clgrad/clrt[] ]' | sed -n 's/\.test .*//p')
[ -n "$reach" ] || { echo "test-more-opencl: no test reaches OpenCL" >&2; exit 1; }
step "PoCL, with kernels optimized as in programs"
# shellcheck disable=SC2086 # the list is meant to be split
CLGRAD_TEST_OPTIMIZED=1 CLGRAD_TEST_DEVICES=pocl CLGRAD_REQUIRE_OPENCL=1 $GO test -vet=off -tags opencl -timeout 60m ./tensor ./replay ./autograd ./imagefit $reach

step "the trials of all kernels in all forms"
CLGRAD_MORE=1 CLGRAD_TEST_DEVICES=pocl $GO test -tags opencl -count=1 -timeout 20m -run '^TestSelfTestsAgree$' ./tensor

step "every operation in every type"
CLGRAD_MORE=1 CLGRAD_TEST_DEVICES=pocl $GO test -tags opencl -count=1 -timeout 20m -run '^TestEveryType$' ./internal/catalog

export RUSTICL_ENABLE=llvmpipe
if grep -qs -i rusticl /etc/OpenCL/vendors/*.icd; then
	# It has no float64.
	step "Mesa's rusticl on llvmpipe"
	CLGRAD_TEST_DEVICES=rusticl $GO test -tags opencl -short -timeout 30m -run '^TestKernels$|^TestRusticl' -skip '/rusticl/float64' ./tensor ./imagefit
else
	step "rusticl: skipped, no driver is registered"
fi
