# shellcheck shell=sh
# Sets POCL_CACHE_DIR to a folder in which PoCL keeps the kernels of tests from one run to the next, unless it is set. PoCL
# names a kernel by the hash of its source, its options, the processor, and the versions of PoCL and LLVM. What no
# run used for a month goes. The folder is outside of the module: Go would take its files for inputs of tests, and
# run all of them again.

export POCL_CACHE_DIR="${POCL_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/clgrad-tests/pocl}"
mkdir -p "$POCL_CACHE_DIR"
find "$POCL_CACHE_DIR" -mindepth 3 -maxdepth 3 -name last_accessed -mtime +30 | while read -r used; do
	rm -rf "${used%/*}"
done
