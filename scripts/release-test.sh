#!/bin/sh
# Makes a release of three systems in a clone: a tree with changes is refused, the sums are right, the program says its
# version and commit, and mlpimage stays below 27 MB.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
	echo "release-test: $*" >&2
	exit 1
}

git clone -q . "$dir/clone"
cd "$dir/clone"
touch change
! TARGETS=linux/amd64 scripts/release.sh "$dir/refused" 2>"$dir/errors" || fail "a tree with changes is released"
grep -q change "$dir/errors" || fail "it does not say which file changed"
rm change
TARGETS="linux/amd64 windows/arm64 darwin/arm64" scripts/release.sh "$dir/out"

cd "$dir/out"
[ "$(wc -l <SHA256SUMS)" = 3 ] || fail "SHA256SUMS has not three lines"
sha256sum -c --quiet SHA256SUMS
for archive in *.tar.gz; do
	tar -xzf "$archive"
done
ls clgrad-*-windows-arm64/mlpimage.exe clgrad-*-windows-arm64/clgrad.exe clgrad-*-darwin-arm64/mlpimage clgrad-*-linux-amd64/LICENSE >/dev/null
program=$(echo clgrad-*-linux-amd64)/mlpimage
[ "$(wc -c <"$program")" -lt 27000000 ] || fail "mlpimage has $(wc -c <"$program") bytes"
commit=$(git -C "$dir/clone" rev-parse HEAD | cut -c-8)
version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' "$dir/clone/doc.go")
case $(uname -sm) in
"Linux x86_64")
	"$program" version | grep -q "mlpimage $version ($commit), " || fail "it says $("$program" version)"
	;;
esac
