// @depends: common, rules
// Gradients in shares, PART[g*size + i] for each group of samples g, times the scalar G[0], for CPUs: a
// work-item adds the few shares of an element in the order of g.

static REAL sum_shares(global const REAL *part, int size, int groups) {
    REAL s = part[0];
    for (int g = 1; g < groups; g++) s += part[g * size];
    return s;
}

// Y[i] = G[0]·Σ_g PART[g*size + i].
kernel void k_reduce_partials(IN(PART), IN(G), OUT(Y), int size, int groups) {
    const int i = get_global_id(0);
    if (i < size) Y[Y_off + i] = G[G_off] * sum_shares(PART + PART_off + i, size, groups);
}

// AdamW (rules.cl) of that gradient, which is stored nowhere.
// The work-item after the last element adds up a loss in shares, SUM[0] = scale·Σ LOSS[k] for k below losses, if there are any.
static void adamw_partials(OUT(P), IN(PART), IN(G), OUT(M), OUT(V), IN(LOSS), OUT(SUM), int size, int groups, int losses, REAL scale,
                         REAL decay, REAL b1, REAL one_b1, REAL b2, REAL one_b2, REAL step, REAL root, REAL eps) {
    const int i = get_global_id(0);
    if (i == size && losses > 0) SUM[SUM_off] = scale * sum_shares(LOSS + LOSS_off, 1, losses);
    if (i >= size) return;
    const REAL g = G[G_off] * sum_shares(PART + PART_off + i, size, groups);
    adamw_element(P + P_off + i, g, M + M_off + i, V + V_off + i, decay, b1, one_b1, b2, one_b2, step, root, eps);
}

kernel void k_adamw_partials(OUT(P), IN(PART), IN(G), OUT(M), OUT(V), IN(LOSS), OUT(SUM), int size, int groups, int losses, REAL scale,
                           REAL decay, REAL b1, REAL one_b1, REAL b2, REAL one_b2, REAL step, REAL root, REAL eps) {
    adamw_partials(P, P_off, PART, PART_off, G, G_off, M, M_off, V, V_off, LOSS, LOSS_off, SUM, SUM_off, size, groups, losses, scale, decay,
                 b1, one_b1, b2, one_b2, step, root, eps);
}
