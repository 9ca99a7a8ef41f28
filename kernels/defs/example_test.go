package defs_test

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels/defs"
)

func Example() {
	fmt.Print(defs.Norm(defs.NormForm{Weights: true}))
	// Output:
	// rms_norm_w [outer n inner]
	// %0 = input X [outer n inner]
	// %1 = length of n
	// %2 = input W by channel [outer n]
	// %3 = sum over n of (%0 * %0) [outer inner]
	// %4 = number eps
	// Y [outer n inner] = (((%0 - 0) * where(((%3 / %1) == +Inf), NaN, (1 / sqrt(((%3 / %1) + %4))))) * %2)
	// MEAN [outer inner] = 0
	// RSTD [outer inner] = where(((%3 / %1) == +Inf), NaN, (1 / sqrt(((%3 / %1) + %4))))
}
