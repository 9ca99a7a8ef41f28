#!/bin/sh
# What every change must pass, in minutes: format, vet, staticcheck; all tests on the Go device and on PoCL; the race
# detector where goroutines are; some kernels under Oclgrind. scripts/test-more.sh has the rest, and CONTRIBUTING.md says
# what is where. CGO_CFLAGS comes from the Makefile.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

step() { echo "== $*"; }

step format
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "not formatted: $unformatted" >&2; exit 1; }

step vet and staticcheck
$GO vet -tags opencl ./...
$GO tool -modfile=tools/go.mod staticcheck -tags opencl ./...

# What needs OpenCL runs beside what does not: where one package is left, or a compiler has one thread, the other has the cores.
# It has a session of its own, so that a failure here ends all of it.
mkdir -p .build
session=$(command -v setsid || true)
$session scripts/test-opencl.sh >.build/opencl.log 2>&1 &
opencl=$!
ended() {
	[ -z "$session" ] || kill -- -$opencl 2>/dev/null || true
	wait
}
trap ended EXIT
trap 'exit 130' INT TERM

step generated assembly
(cd internal/vec/gen && CGO_ENABLED=0 $GO vet . && CGO_ENABLED=0 $GO test .)

# Packages that start goroutines; of the others, the tests that do, and those of kernels in Go, which share their work among cores.
# They are built without the tag opencl: it is a test of that build, too.
step race detector
meet='Goroutine|Close|Interleaved|OneAfterAnother|Collected|Forgets|Busy|RefusedSteps|^TestMode[sA]|NoGradInHandlers|Interrupted|^TestKernels$'
CLGRAD_TEST_DEVICES=cpu $GO test -race -short -timeout 30m ./clrt ./data ./examples/serve ./examples/onnxserver ./internal/atomicfile \
	./internal/cli ./internal/devices ./internal/goroutine ./internal/liveview ./internal/mempool ./internal/parallel \
	./internal/stepwatch ./serve
CLGRAD_TEST_DEVICES=cpu $GO test -race -short -timeout 30m -run "$meet" ./tensor ./autograd ./replay ./optim ./imagefit

step what needs OpenCL
status=0
wait $opencl || status=1
cat .build/opencl.log
exit $status
