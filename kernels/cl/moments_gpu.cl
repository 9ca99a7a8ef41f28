// @depends: common, moments
// The mean and the squared deviations of lines, for devices that run a work-group in lockstep. A work-group is wide
// columns by tall slices of a line by as many lines as that leaves. Each work-item keeps a running mean, so that
// nothing cancels, of blocks that are merged pairwise, and a tree merges those of a line. Sources: those of
// moments_cpu.cl.

#ifndef FOLD_GROUP
#define FOLD_GROUP 256
#endif

// M[(o*shares + s)*inner + i] is the mean of X[(o*len + k)*inner + i] over k of share s: [s*chunk, min(len, (s+1)*chunk)), and V
// there scale times the sum of the squared deviations from it. Where that is NaN, both are.
kernel __attribute__((reqd_work_group_size(FOLD_GROUP, 1, 1)))
void k_moments(IN(X), OUT(M), OUT(V), int outer, int len, int inner, int chunk, int shares, int wide, int tall, REAL scale) {
    local REAL means[FOLD_GROUP], squares[FOLD_GROUP], counts[FOLD_GROUP];
    const int lid = get_local_id(0), lines = FOLD_GROUP / (wide * tall), columns = (inner + wide - 1) / wide;
    const int t = lid / wide % tall, c = get_group_id(0) % columns * wide + lid % wide;
    const int row = get_group_id(0) / columns * lines + lid / (wide * tall), begin = row % shares * chunk;
    const int n = min(len - begin, chunk), here = c < inner && row < outer * shares;
    REAL m = 0, v = 0, m_levels[PAIR_LEVELS], v_levels[PAIR_LEVELS];
    REAL first = 0;
    int terms = 0;
    if (here) {
        global const REAL *x = X + X_off + (row / shares * len + begin) * inner + c;
        if (n > 0) first = x[0];
        for (int k = t; k < n; k += tall) {
            const REAL xk = x[k * inner] - first, d = xk - m;
            m += d / (terms % PAIR_TERMS + 1);
            v = fma(d, xk - m, v);
            terms++;
            MOMENTS_PAIRWISE(m, v, terms, 1)
        }
        MOMENTS_END(m, v, terms, 1)
    }
    REAL count = terms;
    means[lid] = m;
    squares[lid] = v;
    counts[lid] = count;
    for (int span = tall / 2; span > 0; span /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int other = lid + span * wide;
        if (t < span && counts[other] > 0) {
            const REAL d = means[other] - m, whole = count + counts[other], part = counts[other] / whole;
            v += squares[other] + d * d * (count * part);
            m = fma(d, part, m);
            count = whole;
            means[lid] = m;
            squares[lid] = v;
            counts[lid] = count;
        }
    }
    if (t == 0 && here) {
        M[M_off + row * inner + c] = isnan(v) ? NAN : first + m;
        V[V_off + row * inner + c] = scale * v;
    }
}

// Joins the means M and the squared deviations V of shares, [outer, shares, inner], to those of whole lines, Y and Z [outer,
// inner], of which the latter are multiplied by scale. A work-group has one line.
kernel __attribute__((reqd_work_group_size(FOLD_GROUP, 1, 1)))
void k_moments_join(IN(M), IN(V), OUT(Y), OUT(Z), int outer, int len, int inner, int chunk, int shares, REAL scale) {
    local REAL sums[FOLD_GROUP];
    const int lid = get_local_id(0), o = get_group_id(0) / inner, at = get_group_id(0) % inner;
    REAL s = 0;
    for (int k = lid; k < shares; k += FOLD_GROUP) s += M[M_off + (o * shares + k) * inner + at] * ((REAL)min(len - k * chunk, chunk) / len);
    sums[lid] = s;
    for (int span = FOLD_GROUP / 2; span > 0; span /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < span) sums[lid] += sums[lid + span];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const REAL mean = sums[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    s = 0;
    for (int k = lid; k < shares; k += FOLD_GROUP) {
        const REAL d = M[M_off + (o * shares + k) * inner + at] - mean;
        s += V[V_off + (o * shares + k) * inner + at] + d * d * min(len - k * chunk, chunk);
    }
    sums[lid] = s;
    for (int span = FOLD_GROUP / 2; span > 0; span /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < span) sums[lid] += sums[lid + span];
    }
    if (lid == 0) {
        Y[Y_off + o * inner + at] = isnan(sums[0]) ? NAN : mean;
        Z[Z_off + o * inner + at] = scale * sums[0];
    }
}
