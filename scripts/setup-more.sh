#!/bin/sh
# Installs what the tests of scripts/test-more.sh need and is missing: Slurm and MUNGE, Mesa's OpenCL (rusticl), QEMU,
# Chromium. The tests start their own daemons; none of the machine's is needed.
set -eu

PATH="$PATH:/sbin:/usr/sbin"
missing=""
command -v munged >/dev/null || missing="$missing munge"
command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v sbatch >/dev/null || missing="$missing slurm-wlm"
grep -qs -i rusticl /etc/OpenCL/vendors/*.icd || missing="$missing mesa-opencl-icd"
command -v qemu-aarch64-static >/dev/null || missing="$missing qemu-user-static"
command -v chromium >/dev/null || missing="$missing chromium"
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
	echo "setup-more: missing:$missing (Debian's names), which only root can use: the tests that need it will be skipped." >&2
	exit 0
fi
echo "setup-more: installing$missing"
apt-get update -qq
# shellcheck disable=SC2086 # the list is meant to be split
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
