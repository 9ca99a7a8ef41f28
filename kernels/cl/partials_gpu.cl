// @depends: common, rules
// Gradients in shares, PART[g*size + i] for each group of samples g, times the scalar G[0], for GPUs.
// Work-groups are 32 elements i by 8 slices of g: a slice adds its shares in their order, then the slices
// are added in theirs.

#define WIDE 32
#define SLICES 8

// The sum for element i in the work-items of slice 0; the others return before it is whole.
static REAL sum_shares(global const REAL *part, int i, int size, int groups, local REAL *t) {
    const int x = get_local_id(0), slice = get_local_id(1);
    REAL s = 0;
    if (i < size) {
        const int to = groups * (slice + 1) / SLICES;
#pragma unroll 4
        for (int g = groups * slice / SLICES; g < to; g++) s += part[g * size + i];
    }
    t[slice * WIDE + x] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice == 0) {
        for (int k = 1; k < SLICES; k++) s += t[k * WIDE + x];
    }
    return s;
}

// Y[i] = G[0]·Σ_g PART[g*size + i].
kernel __attribute__((reqd_work_group_size(WIDE, SLICES, 1)))
void k_reduce_partials(IN(PART), IN(G), OUT(Y), int size, int groups) {
    local REAL t[SLICES * WIDE];
    const int i = get_global_id(0);
    const REAL s = sum_shares(PART + PART_off, i, size, groups, t);
    if (get_local_id(1) == 0 && i < size) Y[Y_off + i] = G[G_off] * s;
}

// AdamW (rules.cl) of that gradient, which is stored nowhere.
// The work-group after the last elements adds up a loss in shares, SUM[0] = scale·Σ LOSS[k] for k below losses, if there are
// any: its work-items those that lie WIDE·SLICES apart, and then the first these sums in their order.
static INLINE void adamw_partials(OUT(P), IN(PART), IN(G), OUT(M), OUT(V), IN(LOSS), OUT(SUM), int size, int groups, int losses,
                                REAL scale, REAL decay, REAL b1, REAL one_b1, REAL b2, REAL one_b2, REAL step, REAL root, REAL eps,
                                local REAL *t) {
    const int i = get_global_id(0), beyond = (int)get_group_id(0) - (size + WIDE - 1) / WIDE;
    if (beyond > 0 || (beyond == 0 && losses == 0)) return;
    if (beyond == 0) {
        const int lid = get_local_id(1) * WIDE + get_local_id(0);
        REAL s = 0;
        for (int k = lid; k < losses; k += WIDE * SLICES) s += LOSS[LOSS_off + k];
        t[lid] = s;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid > 0) return;
        for (int k = 1; k < min(losses, WIDE * SLICES); k++) s += t[k];
        SUM[SUM_off] = scale * s;
        return;
    }
    const REAL g = G[G_off] * sum_shares(PART + PART_off, i, size, groups, t);
    if (get_local_id(1) == 0 && i < size) {
        adamw_element(P + P_off + i, g, M + M_off + i, V + V_off + i, decay, b1, one_b1, b2, one_b2, step, root, eps);
    }
}

kernel __attribute__((reqd_work_group_size(WIDE, SLICES, 1)))
void k_adamw_partials(OUT(P), IN(PART), IN(G), OUT(M), OUT(V), IN(LOSS), OUT(SUM), int size, int groups, int losses, REAL scale,
                    REAL decay, REAL b1, REAL one_b1, REAL b2, REAL one_b2, REAL step, REAL root, REAL eps) {
    local REAL t[SLICES * WIDE];
    adamw_partials(P, P_off, PART, PART_off, G, G_off, M, M_off, V, V_off, LOSS, LOSS_off, SUM, SUM_off, size, groups, losses, scale, decay,
                 b1, one_b1, b2, one_b2, step, root, eps, t);
}
