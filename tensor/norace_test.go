//go:build !race

package tensor_test

const underRace = false
