//go:build race

package tensor_test

// underRace says that the race detector keeps several bytes of its own for each of the program's.
const underRace = true
