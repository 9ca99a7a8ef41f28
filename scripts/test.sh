#!/bin/sh
# Everything that must pass: format, vet, staticcheck; all tests without OpenCL, with the race detector
# on the Go device, and on PoCL; the kernels under Oclgrind. CGO_CFLAGS comes from the Makefile.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

step() { echo "== $*"; }

# What takes longest begins first, so that no core waits for it at the end.
longest="./tensor ./replay ./autograd ./cmd/mlpimage ./imagefit"

step format
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "not formatted: $unformatted" >&2; exit 1; }

step vet and staticcheck
CGO_ENABLED=0 $GO vet ./...
GOARCH=386 CGO_ENABLED=0 $GO vet ./... # tests, too, where an int has 32 bits
$GO vet -tags opencl ./...
CGO_ENABLED=0 $GO tool staticcheck ./...
$GO tool staticcheck -tags opencl ./...

# A browser has no signals and runs no programs: there, the library is all that there is.
step other systems
for target in linux/386 windows/amd64 darwin/arm64 js/wasm; do
	echo "$target"
	packages=./...
	[ "$target" != js/wasm ] || packages="./autograd ./checkpoint ./clrt ./data ./hashgrid ./imagefit ./kernels ./kerneltest ./nn ./optim ./replay ./tensor"
	# shellcheck disable=SC2086 # the list is meant to be split
	GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 $GO build $packages
done

# Programs that a test runs read files, too: a cached result would miss a change of those.
step without OpenCL and without a C compiler
CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu $GO test -short ./...

# The kernels compare plain loops with the vectors of the Go device: those of this processor that are not its widest, too.
step vector instructions
(cd internal/vec/gen && CGO_ENABLED=0 $GO vet . && CGO_ENABLED=0 $GO test .)
for vectors in avx2 off; do
	[ "$vectors" != avx2 ] || grep -qs avx512vl /proc/cpuinfo || continue
	echo "$vectors"
	CGO_ENABLED=0 CLGRAD_VECTORS=$vectors CLGRAD_TEST_DEVICES=cpu $GO test -short -run "Kernels|MatMul|Vectors" ./kernels/... ./tensor ./hashgrid ./imagefit ./optim
done

# Examples but serve, files, texts and formulas have one goroutine. So has what computes descriptions: the twins beside it
# are those that tensor's tests run. Vec's loops are assembly, which the race detector does not see.
single='/examples/|/internal/(agree|archtest|cond|einsum|interpret|intmath|npz|round|safetensors|samefile|vec)$|/kernels/expr$'
# Nor do long tests run again of which others have the goroutines: every case of a twin, which tensor's kernel tests run, more random steps,
# gradients of tiny tensors, sizes and precisions. The steps before and after this one run them.
alike='^(TestTwins|TestRandomRows|TestSecondGradients|TestPrecision|TestPrecisionOfFits|TestMemoryOfTiles|TestBounded|TestPassOfAnySize)$'
step the Go device, race detector
# shellcheck disable=SC2046,SC2086 # the lists are meant to be split
CLGRAD_TEST_DEVICES=cpu $GO test -race -short -skip "$alike" $longest $($GO list ./... | grep -Ev "$single") ./examples/serve

# Kernels under Oclgrind have one thread for most of the time: beside PoCL's compiler they leave no core idle at the end.
mkdir -p .build
scripts/oclgrind.sh >.build/oclgrind.log 2>&1 &
oclgrind=$!
trap wait EXIT

step PoCL
# shellcheck disable=SC2086
CLGRAD_TEST_DEVICES=cpu,pocl CLGRAD_REQUIRE_OPENCL=1 CLGRAD_REQUIRE_CHROMIUM=1 CLGRAD_REQUIRE_NUMPY=1 $GO test -timeout 60m -tags opencl $longest ./...

step a module outside this one
(cd examples/customop && $GO vet . && CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu $GO test . &&
	CLGRAD_TEST_DEVICES=cpu,pocl $GO test -tags opencl .)

step kernels under Oclgrind
status=0
wait $oclgrind || status=1
cat .build/oclgrind.log
exit $status
