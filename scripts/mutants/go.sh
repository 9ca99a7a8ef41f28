#!/bin/sh
# Stands as "go" before the real one while gremlins runs; main.go sets the variables. By itself gremlins
# tests a mutant with the tests of its own package alone, takes one that does not compile for killed, and
# leaves out what its coverage does not show, such as the initial values of variables.
set -uf
[ "$1" = test ] || exec "$MUTANTS_GO" "$@"

# An endless loop may allocate, too.
ulimit -v 8388608

profile=
while [ $# -gt 0 ]; do
	[ "$1" != -coverprofile ] || profile=$2
	shift
done

# Without a mutant, the tests must pass; then every line counts as covered.
# shellcheck disable=SC2086 # the list is meant to be split
set -- $MUTANTS_STEPS
while [ $# -gt 0 ]; do
	out=$("$MUTANTS_GO" test -vet=off -short -failfast -timeout "$MUTANTS_TIMEOUT" "$1" "$2" 2>&1) || {
		[ -z "$profile" ] || echo "$out"
		case $out in *'[build failed]'*) exit 2 ;; esac
		exit 1
	}
	shift 2
done
[ -z "$profile" ] || {
	echo mode: set
	for file in $MUTANTS_FILES; do echo "$file:1.1,1000000.1 1 1"; done
} >"$profile"
