// @depends: common
// Update rules: one launch over all parameters, which lie in one buffer.

// Stochastic gradient descent with momentum and L2 regularisation, as PyTorch computes it:
//   g = G + l2·P;  V = momentum·V + g;  P −= lr·(nesterov ? g + momentum·V : V)
kernel void k_sgd(OUT(P), IN(G), OUT(V), int n, REAL lr, REAL momentum, REAL l2, int nesterov) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const REAL p = P[P_off + i];
    const REAL g = fma(l2, p, G[G_off + i]);
    const REAL v = fma(momentum, V[V_off + i], g);
    V[V_off + i] = v;
    P[P_off + i] = p - lr * (nesterov ? fma(momentum, v, g) : v);
}

// AdamW: Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, as PyTorch
// computes it (eps outside the root, after the bias correction):
//   P *= 1 − decay;  M = b1·M + (1−b1)·G;  V = b2·V + (1−b2)·G²;  P −= step·M / (√V·root + eps)
// The host passes, computed in double precision: decay = lr·wd, one_b1 = 1−b1, one_b2 = 1−b2,
// step = lr/(1−b1ᵗ), root = 1/√(1−b2ᵗ).
kernel void k_adamw(OUT(P), IN(G), OUT(M), OUT(V), int n, REAL decay, REAL b1, REAL one_b1, REAL b2,
                    REAL one_b2, REAL step, REAL root, REAL eps) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const REAL g = G[G_off + i];
    const REAL p = P[P_off + i] * (1 - decay);
    const REAL m = fma(b1, M[M_off + i], one_b1 * g);
    const REAL v = fma(b2, V[V_off + i], one_b2 * g * g);
    M[M_off + i] = m;
    V[V_off + i] = v;
    P[P_off + i] = p - step * m / fma(sqrt(v), root, eps);
}
