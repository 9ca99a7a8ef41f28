#!/bin/sh
# What every change must pass, in minutes: format, vet; all tests on the Go device; on PoCL the kernels, every operation and
# recorded steps; some kernels under Oclgrind. scripts/test-more.sh has the rest, and CONTRIBUTING.md says what is where.
# CGO_CFLAGS comes from the Makefile.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

began=$(date +%s)
step() { echo "== $(($(date +%s) - began)) s: $*"; }

step format
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "not formatted: $unformatted" >&2; exit 1; }

step vet
$GO vet -tags opencl ./...

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

step the Go device
CLGRAD_TEST_DEVICES=cpu CLGRAD_REQUIRE_OPENCL=1 CLGRAD_REQUIRE_NUMPY=1 $GO test -vet=off -tags opencl -timeout 30m ./tensor ./replay ./...

step generated assembly
(cd internal/vec/gen && CGO_ENABLED=0 $GO vet . && CGO_ENABLED=0 $GO test .)

step what needs OpenCL
status=0
wait $opencl || status=1
cat .build/opencl.log
exit $status
