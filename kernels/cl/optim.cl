// @depends: common, adamw
// Update rules: one launch over all parameters, which lie in one buffer.

// Stochastic gradient descent with momentum and L2 regularisation, as PyTorch computes it:
//   g = G + l2·P;  V = momentum·V + g;  P −= lr·(nesterov ? g + momentum·V : V)
// Without momentum V is g, whatever it was: an infinite gradient is gone with its step.
static void sgd(OUT(P), IN(G), OUT(V), int n, REAL lr, REAL momentum, REAL l2, int nesterov) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const REAL p = P[P_off + i];
    const REAL g = fma(l2, p, G[G_off + i]);
    const REAL v = momentum == 0 ? g : fma(momentum, V[V_off + i], g);
    V[V_off + i] = v;
    P[P_off + i] = p - lr * (nesterov ? fma(momentum, v, g) : v);
}

kernel void k_sgd(OUT(P), IN(G), OUT(V), int n, REAL lr, REAL momentum, REAL l2, int nesterov) {
    sgd(P, P_off, G, G_off, V, V_off, n, lr, momentum, l2, nesterov);
}

// AdamW of the gradient G: adamw.cl.
static void adamw_all(OUT(P), IN(G), OUT(M), OUT(V), int n, REAL decay, REAL b1, REAL one_b1, REAL b2,
                      REAL one_b2, REAL step, REAL root, REAL eps) {
    const int i = get_global_id(0);
    if (i < n) adamw(P + P_off + i, G[G_off + i], M + M_off + i, V + V_off + i, decay, b1, one_b1, b2, one_b2, step, root, eps);
}

kernel void k_adamw(OUT(P), IN(G), OUT(M), OUT(V), int n, REAL decay, REAL b1, REAL one_b1, REAL b2,
                    REAL one_b2, REAL step, REAL root, REAL eps) {
    adamw_all(P, P_off, G, G_off, M, M_off, V, V_off, n, decay, b1, one_b1, b2, one_b2, step, root, eps);
}
