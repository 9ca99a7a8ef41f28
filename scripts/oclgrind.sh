#!/bin/sh
# oclgrind.sh PACKAGE...: runs the kernel tests of packages under Oclgrind, which reports out-of-bounds accesses, data races
# and reads of uninitialised memory, with the local memory of NVIDIA's devices. Optimisation is off: Oclgrind 21.10 does
# not know LLVM's freeze instruction. In float64 kernels access the same elements: they run in float32 alone.
set -eu
cd "$(dirname "$0")/.."
build=$PWD/.build
mkdir -p "$build"

runtime=$(find /usr/lib /usr/local/lib -name liboclgrind-rt.so 2>/dev/null | head -n 1)
[ -n "$runtime" ] || { echo "oclgrind: liboclgrind-rt.so not found" >&2; exit 1; }

# check PACKAGE: tests its kernels.
check() {
	log=$build/oclgrind-$1.log
	rm -f "$log"
	(cd "$1" && CLGRAD_OPENCL_LIB=$runtime CLGRAD_TEST_DEVICES=oclgrind oclgrind --build-options -cl-opt-disable --local-mem-size 49152 \
		--data-races --uninitialized --check-api --log "$log" "$build/$1.test" -test.short -test.run 'Kernels' -test.skip '/oclgrind/float64') || return 1
	if [ -s "$log" ]; then
		head -n 60 "$log" >&2
		echo "oclgrind: it reported the above (all in $log)" >&2
		return 1
	fi
}

for package; do
	${GO:-go} test -vet=off -c -tags opencl -o "$build/$package.test" "./$package"
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
