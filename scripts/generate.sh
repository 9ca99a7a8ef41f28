#!/bin/sh
# generate.sh: makes the files that are made of other files, and says of each kind which files changed. GO and PYTHON
# name the programs. Without NumPy reference numbers stay as they are; without PyTorch those of new cases are made of
# formulas.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go} PYTHON=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# sums PATTERN...: a line for each file that there is.
sums() {
	# shellcheck disable=SC2068 # patterns
	for file in $@; do
		[ ! -f "$file" ] || cksum "$file"
	done
}

# made KIND PATTERNS COMMAND: runs the command, whose output is shown if it fails, and says what it changed.
made() {
	echo "generate: $1 …"
	sums "$2" >"$work/before"
	sh -eu -c "$3" >"$work/output" 2>&1 || { cat "$work/output" >&2; echo "generate: $1 failed, by the above" >&2; exit 1; }
	sums "$2" >"$work/after"
	changed=$(diff "$work/before" "$work/after" | sed -n 's/^[<>] [0-9]* [0-9]* /  changed: /p' | sort -u) || true
	echo "${changed:-  nothing changed ($(wc -l <"$work/after" | tr -d " ") files)}"
}

export GO PYTHON
made "methods of Tensor and Node, of internal/operations/table" "tensor/methods_*.go autograd/methods_*.go" \
	'$GO run ./internal/operations/gen'
made "assembly, of internal/vec/gen" "internal/vec/*.go internal/vec/*.s" 'cd internal/vec/gen && $GO run .'
if "$PYTHON" -c 'import numpy' 2>/dev/null; then
	made "reference numbers, of scripts/references and scripts/specialvalues.py" "testdata/references/*" \
		'$PYTHON -B scripts/references testdata/references; $PYTHON -B scripts/specialvalues.py testdata/references/special.csv'
	"$PYTHON" -c 'import torch' 2>/dev/null ||
		echo "  skipped: numbers of PyTorch, for $PYTHON has none. Those of new cases are made of formulas, and cases with numbers keep them"
else
	echo "generate: skipped: reference numbers, for $PYTHON has no NumPy (Debian: apt-get install python3-numpy)"
fi
made "docs/operations.md, docs/types.md and testdata/launches.txt, of internal/catalog: a minute or two" \
	"docs/operations.md docs/types.md testdata/launches.txt" \
	'CLGRAD_TEST_DEVICES=cpu $GO test ./internal/catalog -count=1 -run "Page|Launches" -update'
made "docs/onnx.md, of onnx" docs/onnx.md '$GO test ./onnx -count=1 -run TestPage -update'
made "kernels/cl/rules.cl, of internal/ops" kernels/cl/rules.cl '$GO test ./internal/ops -count=1 -run TestRulesText -update'
