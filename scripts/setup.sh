#!/bin/sh
# Installs what the tests need and is missing: an OpenCL loader, PoCL, Oclgrind, Graphviz and NumPy (for the page on
# the model file). Needs apt-get, as root or with sudo, only if something is missing.
set -eu

missing=""
need() { # need PACKAGE TEST...
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}
has_library() { ldconfig -p | grep -q "$1"; }
has_icd() { grep -qs "$1" /etc/OpenCL/vendors/*.icd; }

PATH="$PATH:/sbin:/usr/sbin"
need ocl-icd-libopencl1 has_library 'libOpenCL\.so\.1'
need pocl-opencl-icd has_icd pocl
need oclgrind command -v oclgrind
need graphviz command -v dot
need python3-numpy /usr/bin/python3 -c "import numpy"
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "setup: missing:$missing (Debian's names). There is no apt-get here: install them another way." >&2
	exit 1
fi
as_root=""
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "setup: missing:$missing. Run as root: apt-get install$missing" >&2
		exit 1
	fi
	as_root=sudo
fi
echo "setup: installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # the list is meant to be split
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
