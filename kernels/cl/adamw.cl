// @depends: common
// AdamW of one parameter: Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, as PyTorch
// computes it (eps outside the root, after the bias correction):
// Each operation rounds, as it does in the formulas of internal/ops/describeoptim.go:
//   P *= 1 − decay;  M = b1·M + (1−b1)·g;  V = b2·V + (1−b2)·g²;  P −= step·M / (√V·root + eps)
// The host passes, computed in double precision: decay = lr·wd, one_b1 = 1−b1, one_b2 = 1−b2,
// step = lr/(1−b1ᵗ), root = 1/√(1−b2ᵗ).
static void adamw(global REAL *P, REAL g, global REAL *M, global REAL *V, REAL decay, REAL b1, REAL one_b1, REAL b2,
                  REAL one_b2, REAL step, REAL root, REAL eps) {
#pragma OPENCL FP_CONTRACT OFF
    const REAL p = *P * (1 - decay);
    const REAL m = fma(b1, *M, one_b1 * g);
    const REAL v = fma(b2, *V, one_b2 * g * g);
    *M = m;
    *V = v;
    *P = p - step * m / fma(sqrt(v), root, eps);
}
