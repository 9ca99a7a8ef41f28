// @depends: common, rules
// Update rules: one launch over all parameters, which lie in one buffer. The formulas are those of rules.cl.

static void sgd(OUT(P), IN(G), OUT(V), int n, REAL lr, REAL momentum, REAL l2, int nesterov, int decays) {
    const int i = get_global_id(0);
    if (i >= n) return;
    if (nesterov && !decays) sgd_nesterov_element(P + P_off + i, G[G_off + i], V + V_off + i, lr, momentum, l2);
    else if (!decays) sgd_element(P + P_off + i, G[G_off + i], V + V_off + i, lr, momentum, l2);
    else if (nesterov) sgd_nesterov_decay_element(P + P_off + i, G[G_off + i], V + V_off + i, lr, momentum, l2);
    else sgd_decay_element(P + P_off + i, G[G_off + i], V + V_off + i, lr, momentum, l2);
}

kernel void k_sgd(OUT(P), IN(G), OUT(V), int n, REAL lr, REAL momentum, REAL l2, int nesterov, int decays) {
    sgd(P, P_off, G, G_off, V, V_off, n, lr, momentum, l2, nesterov, decays);
}

static void adamw(OUT(P), IN(G), OUT(M), OUT(V), int n, REAL decay, REAL b1, REAL one_b1, REAL b2,
                  REAL one_b2, REAL step, REAL root, REAL eps) {
    const int i = get_global_id(0);
    if (i < n) adamw_element(P + P_off + i, G[G_off + i], M + M_off + i, V + V_off + i, decay, b1, one_b1, b2, one_b2, step, root, eps);
}

kernel void k_adamw(OUT(P), IN(G), OUT(M), OUT(V), int n, REAL decay, REAL b1, REAL one_b1, REAL b2,
                    REAL one_b2, REAL step, REAL root, REAL eps) {
    adamw(P, P_off, G, G_off, M, M_off, V, V_off, n, decay, b1, one_b1, b2, one_b2, step, root, eps);
}
