#!/bin/sh
# Tests that need daemons of their own: a real Slurm of one node. A test says why it is skipped.
# CGO_CFLAGS comes from the Makefile.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

echo "== a real Slurm"
CGO_ENABLED=0 CLGRAD_TEST_DEVICES=cpu CLGRAD_MORE=1 $GO test -count=1 -v -run '^TestSlurm$' ./cmd/mlpimage
