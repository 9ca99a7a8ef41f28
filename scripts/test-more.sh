#!/bin/sh
# What scripts/test.sh leaves out, for it takes longer, or needs daemons, another OpenCL, another system or another processor.
# A test says why it is skipped. CGO_CFLAGS comes from the Makefile.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
began=$(date +%s)
step() { echo "== $(($(date +%s) - began)) s: $*"; }
. scripts/pocl.sh

# Compilers of OpenCL have one thread each: what needs them runs beside the rest, and its output follows at the end.
# It has a session of its own, so that a failure here ends all of it.
mkdir -p .build
session=$(command -v setsid || true)
$session scripts/test-more-opencl.sh >.build/opencl-more.log 2>&1 &
opencl=$!
oclgrind=""
ended() {
	for job in $opencl $oclgrind; do
		[ -z "$session" ] || kill -- -"$job" 2>/dev/null || true
	done
	wait
}
trap ended EXIT
trap 'exit 130' INT TERM

step "staticcheck, also of what differs without OpenCL"
$GO tool -modfile=tools/go.mod staticcheck -tags opencl ./...
CGO_ENABLED=0 $GO tool -modfile=tools/go.mod staticcheck ./clrt ./internal/devices ./tensor

# Types are what differs on other systems, and where an int has 32 bits: the release below generates and links code for
# Windows and macOS. A browser has no signals and runs no programs: there, the library is all that there is.
step "other systems"
$GO build -o .build/typecheck ./scripts/typecheck
.build/typecheck linux/386 -test ./...
.build/typecheck darwin/arm64 -test ./...
.build/typecheck windows/arm64 ./...
.build/typecheck js/wasm ./autograd ./checkpoint ./clrt ./data ./fft ./fusedmlp ./hashgrid ./imagefit ./kernels ./kerneltest ./linalg ./generate ./nn ./optim ./replay ./tensor

# Of the packages that are not named here no file asks for C, nor for OpenCL; tensor's tests run so on linux/386, below.
# With -trimpath the release, below, finds the packages compiled.
step "without OpenCL and without a C compiler"
CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu $GO test -trimpath -vet=off -short -timeout 30m ./cmd/... ./clrt ./internal/devices ./internal/cli
(cd examples/customop && CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu $GO test .)
(cd examples/customfusion && CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu $GO test .)

# The kernels compare plain loops with the vectors of the Go device: those of this processor that are not its widest, too.
for vectors in avx2 off; do
	[ "$vectors" != avx2 ] || grep -qs avx512vl /proc/cpuinfo || continue
	step "vector instructions: $vectors"
	CGO_ENABLED=0 CLGRAD_VECTORS=$vectors CLGRAD_TEST_DEVICES=cpu $GO test -trimpath -vet=off -short -run "Kernels|MatMul|Vectors" ./kernels/... ./tensor ./fusedmlp ./hashgrid ./imagefit ./optim ./linalg ./fft ./internal/recurrent
done

# Races are between packages that start goroutines, share out loops or lock, in code or in tests. Examples but servers
# have one goroutine. The loops of linear algebra and Fourier transforms are the host kernels that tensor's tests run.
# Vec's are assembly, which the race detector does not see.
single='/examples/|/internal/(archtest|vec)$|/kernels/expr$|/linalg$|/fft$'
packages=$($GO list -f '{{.Dir}}' ./...)
concurrent=""
for package in $(echo "$packages" | grep -Ev "$single"); do
	! grep -qE '(^|[[:space:]])go (func|[a-zA-Z.]+\()|"sync|parallel\.|\.Parallel\(' "$package"/*.go || concurrent="$concurrent $package"
done
# Nor do long tests run again of which others have the goroutines, or which have one: every case of a host kernel, which tensor's
# kernel tests run, random recordings but those of steps, vector loops beside plain ones, error bounds, gradients of tiny tensors,
# messages of every method, deep graphs, integers, parameters of kernels, sizes and precisions. They run without the detector.
hosts='TestHostKernels|TestParamsMatchSources|TestFoldsInVectors|TestColumnsInVectors|TestBound|TestBounded|TestMemoryOfTiles|TestStepOfAnySize|TestConvInteger|TestRoundedFactors|TestDescribedLaunches|TestIntegers|TestHalves'
recorded='TestRandom(Rows|Methods|Maps|Hosts|Graphs|Trainings|Perceptrons|Stored)|TestPerceptrons|TestRows|TestProposalsKeepContents'
gradients='TestSecondGradients|TestComposedGradients|TestManyGradientsAlongAxes|TestDeepChain|TestDeepSecondGradient|TestErrorsNameTheMethod|TestRealGradients|TestExportReal'
alike="^($hosts|$recorded|$gradients|TestPrecision|TestPrecisionOfFits)\$"
step "the Go device, race detector"
# shellcheck disable=SC2086 # the list is meant to be split
CLGRAD_TEST_DEVICES=cpu $GO test -race -short -timeout 30m -skip "$alike" ./tensor $concurrent ./examples/serve ./examples/onnxserver

# It has one thread for each package, and tensor takes the longest by far.
step "kernels under Oclgrind, beside what follows"
$session scripts/oclgrind.sh tensor imagefit fusedmlp hashgrid nn linalg internal/catalog >.build/oclgrind-more.log 2>&1 &
oclgrind=$!

step "programs and commands of the documents"
CLGRAD_MORE=1 CLGRAD_TEST_DEVICES=cpu $GO test -count=1 ./internal/doctest ./scripts/notebook

# python3, or what CLGRAD_ONNXRUNTIME names
runtime=${CLGRAD_ONNXRUNTIME:-python3}
if $runtime -c "import onnx, onnxruntime" 2>/dev/null; then
	step "exported models in onnxruntime"
	CLGRAD_ONNXRUNTIME=$runtime CLGRAD_TEST_DEVICES=cpu $GO test -count=1 -timeout 20m -run '^TestExport' ./onnx ./internal/catalog
else
	step "exported models are not compared: $runtime has no onnx and onnxruntime"
fi

step "a real Slurm"
CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu CLGRAD_MORE=1 $GO test -count=1 -v -run '^TestSlurm$' ./cmd/mlpimage

# A module of its own: who builds clgrad downloads no driver of browsers.
step "the live page in Chromium"
(cd scripts/livepage && $GO vet . && $GO test -count=1 -v .)

step "a release"
scripts/release-test.sh

step "sums of a hundred million elements"
CLGRAD_MORE=1 CLGRAD_TEST_DEVICES=cpu,pocl $GO test -tags opencl -count=1 -timeout 30m -run '^TestLong(Sums|SumsOfViews|SumsOfOnes|Statistics|ProductSums)$' ./tensor

engine="./internal/vec ./kernels ./tensor ./autograd ./optim ./nn ./replay"

# Ints of 32 bits and plain loops are what differs, and on arm64 other loops and sums that are rounded once: random
# recordings and gradients that are left out above show no more of them.
step "the Go device on linux/386"
# shellcheck disable=SC2086 # the list is meant to be split
GOARCH=386 CGO_ENABLED=0 $GO vet ./internal/goroutine $engine
# shellcheck disable=SC2086
GOARCH=386 CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu $GO test -vet=off -short -skip "^($recorded|$gradients)\$" $engine

if command -v qemu-aarch64-static >/dev/null; then
	step "the Go device on linux/arm64, under QEMU"
	# shellcheck disable=SC2086
	GOARCH=arm64 CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu CLGRAD_TEST_EMULATED=1 $GO test -vet=off -short -timeout 30m -exec qemu-aarch64-static \
		-skip "^($recorded|$gradients)\$" $engine
else
	step "linux/arm64: skipped, there is no qemu-aarch64-static"
fi

step "what needs compilers of OpenCL, and Oclgrind"
status=0
wait $opencl || status=1
cat .build/opencl-more.log
wait $oclgrind || status=1
cat .build/oclgrind-more.log
exit $status
