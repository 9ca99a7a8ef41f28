#!/bin/sh
# Builds mlpimage and clgrad for Linux, macOS and Windows on amd64 and arm64, and packs each pair with the license:
# scripts/release.sh [FOLDER] leaves archives and SHA256SUMS there. They are without cgo, so without OpenCL, which make
# builds where it is to run. The same commit and Go give the same bytes. TARGETS names other systems.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
targets=${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}

changes=$(git status --porcelain)
if [ -n "$changes" ]; then
	echo "release: the tree has changes that no commit has:" >&2
	echo "$changes" >&2
	exit 1
fi
version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' doc.go)
[ -n "$version" ] || { echo "release: doc.go has no version" >&2; exit 1; }

mkdir -p "${1:-out/release}"
out=$(cd "${1:-out/release}" && pwd)
[ -z "$(ls "$out")" ] || { echo "release: $out is not empty" >&2; exit 1; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
for target in $targets; do
	name=clgrad-$version-$(echo "$target" | tr / -)
	mkdir "$stage/$name"
	GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 $GO build -buildvcs=true -trimpath -ldflags "-s -w" -o "$stage/$name/" ./cmd/mlpimage ./cmd/clgrad
	cp LICENSE CHANGELOG.md "$stage/$name/"
	touch -d "@$(git log -1 --format=%ct)" "$stage/$name"/* "$stage/$name"
	(cd "$stage" && tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -cf - "$name" | gzip -9n >"$out/$name.tar.gz")
	echo "$name.tar.gz"
done
cd "$out"
sha256sum ./*.tar.gz | sed 's|\./||' >SHA256SUMS
