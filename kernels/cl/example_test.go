package cl_test

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/kernels/cl"
)

// The program of a text of one's own, which depends on an embedded file.
func Example() {
	text, err := cl.Program("mine.cl", "// @depends: common\nkernel void mine(OUT(Y)) { Y[Y_off] = 1; }\n")
	fmt.Println(strings.Contains(text, "#line 1 \"common.cl\""), strings.HasSuffix(text, "Y[Y_off] = 1; }\n\n"), err)
	// Output: true true <nil>
}
