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

# Each file once: three packages differ with OpenCL, what is for GOARCH=386 is without it, and the race detector's tests are vetted as they are built.
step vet and staticcheck
GOARCH=386 CGO_ENABLED=0 $GO vet ./... # tests, too, where an int has 32 bits
$GO vet -tags opencl ./...
CGO_ENABLED=0 $GO tool -modfile=tools/go.mod staticcheck ./clrt ./internal/devices ./tensor
$GO tool -modfile=tools/go.mod staticcheck -tags opencl ./...

# What needs OpenCL runs beside what does not: where one package is left, or a compiler has one thread, the other has the cores.
# It has a session of its own, so that a failure here ends all of it.
mkdir -p .build
session=$(command -v setsid || true)
# shellcheck disable=SC2086 # the lists are meant to be split
$session scripts/test-opencl.sh $longest >.build/opencl.log 2>&1 &
opencl=$!
ended() {
	[ -z "$session" ] || kill -- -$opencl 2>/dev/null || true
	wait
}
trap ended EXIT
trap 'exit 130' INT TERM

# A browser has no signals and runs no programs: there, the library is all that there is.
step other systems
for target in linux/386 windows/amd64 darwin/arm64 js/wasm; do
	echo "$target"
	packages=./...
	[ "$target" != js/wasm ] || packages="./autograd ./checkpoint ./clrt ./data ./hashgrid ./imagefit ./kernels ./kerneltest ./nn ./optim ./replay ./tensor"
	# shellcheck disable=SC2086 # the list is meant to be split
	GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 $GO list -export $packages >/dev/null
	[ "$target" = js/wasm ] || GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 $GO build ./cmd/...
done

# Programs that a test runs read files, too: a cached result would miss a change of those. Of the packages that are not named here no file
# asks for C, nor for OpenCL: the race detector's step is their build without either.
step without OpenCL and without a C compiler
CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu $GO test -vet=off -short -timeout 30m ./tensor ./cmd/... ./clrt ./internal/devices ./internal/cli ./examples/...

# The kernels compare plain loops with the vectors of the Go device: those of this processor that are not its widest, too.
step vector instructions
(cd internal/vec/gen && CGO_ENABLED=0 $GO vet . && CGO_ENABLED=0 $GO test .)
for vectors in avx2 off; do
	[ "$vectors" != avx2 ] || grep -qs avx512vl /proc/cpuinfo || continue
	echo "$vectors"
	CGO_ENABLED=0 CLGRAD_VECTORS=$vectors CLGRAD_TEST_DEVICES=cpu $GO test -vet=off -short -run "Kernels|MatMul|Vectors" ./kernels/... ./tensor ./hashgrid ./imagefit ./optim
done

# Examples but serve, files, texts and formulas have one goroutine. So has what computes descriptions: the twins beside it
# are those that tensor's tests run. Vec's loops are assembly, which the race detector does not see.
single='/examples/|/internal/(agree|archtest|cond|doctest|einsum|interpret|intmath|npz|round|safetensors|samefile|vec)$|/kernels/expr$'
# Nor do long tests run again of which others have the goroutines, or which have one: every case of a twin, which tensor's kernel tests run, random rows,
# gradients of tiny tensors, deep graphs, parameters of kernels, sizes and precisions. The step on PoCL runs them.
alike='^(TestTwins|TestParamsMatchSources|TestRandomRows|TestSecondGradients|TestDeepChain|TestDeepSecondGradient|TestPrecision|TestPrecisionOfFits|TestMemoryOfTiles|TestBounded|TestPassOfAnySize)$'
step the Go device, race detector
# shellcheck disable=SC2046,SC2086 # the lists are meant to be split
CLGRAD_TEST_DEVICES=cpu $GO test -race -short -timeout 30m -skip "$alike" $longest $($GO list ./... | grep -Ev "$single") ./examples/serve

step what needs OpenCL
status=0
wait $opencl || status=1
cat .build/opencl.log
exit $status
