#!/bin/sh
# oclgrind.sh PACKAGE...: runs the kernel tests of packages, and every operation in every type of internal/catalog, under Oclgrind, which reports out-of-bounds accesses, data races
# and reads of uninitialised memory, with the local memory of NVIDIA's devices. Optimisation is off: Oclgrind 21.10 does
# not know LLVM's freeze instruction. Of operations one after the other it takes results of earlier launches for uninitialised, which
# the tests of their kernels show to be written: it does not look for that there. In float64 kernels access the same elements: they run in float32 alone.
set -eu
cd "$(dirname "$0")/.."
build=$PWD/.build
mkdir -p "$build"

runtime=$(find /usr/lib /usr/local/lib -name liboclgrind-rt.so 2>/dev/null | head -n 1)
[ -n "$runtime" ] || { echo "oclgrind: liboclgrind-rt.so not found" >&2; exit 1; }

# check PACKAGE: tests its kernels.
check() {
	name=${1##*/} tests=Kernels uninitialized=--uninitialized
	[ "$1" != internal/catalog ] || tests='^TestEveryType$' uninitialized=
	log=$build/oclgrind-$name.log
	rm -f "$log"
	# shellcheck disable=SC2086 # no word where it is empty
	(cd "$1" && CLGRAD_MORE=1 CLGRAD_OPENCL_LIB=$runtime CLGRAD_TEST_DEVICES=oclgrind oclgrind --build-options -cl-opt-disable --local-mem-size 49152 \
		--data-races $uninitialized --check-api --log "$log" "$build/$name.test" -test.short -test.run "$tests" -test.skip '/oclgrind/float64') || return 1
	if [ -s "$log" ]; then
		head -n 60 "$log" >&2
		echo "oclgrind: it reported the above (all in $log)" >&2
		return 1
	fi
}

for package; do
	${GO:-go} test -vet=off -c -tags opencl -o "$build/${package##*/}.test" "./$package"
done
pids=""
for package; do
	check "$package" &
	pids="$pids $!"
done
status=0
for pid in $pids; do
	wait "$pid" || status=1
done
exit $status
