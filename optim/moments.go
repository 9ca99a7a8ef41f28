package optim

import "math"

// checkAdam panics for settings of moments out of range, or both 0, as they are in a config that
// was not made of the defaults named.
func checkAdam(beta1, beta2, eps float64, defaults string) {
	checkRange("Beta1", beta1, 0, 1)
	checkRange("Beta2", beta2, 0, 1)
	checkRange("Eps", eps, 0, math.Inf(1))
	if beta2 == 0 && eps == 0 {
		panic(badValue("Beta2 and Eps are 0, so that a gradient of 0 gives 0/0: start from optim.%s(lr)", defaults))
	}
}

// biasCorrections returns 1 − β₁ᵗ and 1 − β₂ᵗ, in double precision on the host: −expm1(t·log β)
// keeps the digits that 1 − βᵗ loses.
func biasCorrections(beta1, beta2 float64, t int) (first, second float64) {
	return -math.Expm1(float64(t) * math.Log(beta1)), -math.Expm1(float64(t) * math.Log(beta2))
}
