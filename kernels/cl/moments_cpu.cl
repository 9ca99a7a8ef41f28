// @depends: common, moments
// The mean and the squared deviations of lines, for CPUs: one work-item per work-group, which takes a run of lines, sixteen
// elements of a row or sixteen columns at a time. Each lane keeps a running mean, so that nothing cancels; blocks, as those of
// pairwise.cl, lanes and shares are merged pairwise. Sources: that of moments.cl; Welford, "Note on a Method for Calculating
// Corrected Sums of Squares and Products", Technometrics 4, 1962.

static REAL moments_row(global const REAL *x, int n, REAL *squares) {
    REAL16 m = 0, v = 0, m2 = 0, v2 = 0, m_levels[PAIR_LEVELS], v_levels[PAIR_LEVELS];
    const REAL first = n > 0 ? x[0] : 0;
    int k = 0;
    while (k + 32 <= n) {
        const int end = min(n - 31, (k / (32 * PAIR_TERMS) + 1) * (32 * PAIR_TERMS));
        REAL c = 0;
        m2 = v2 = 0;
        for (; k < end; k += 32) {
            const REAL16 x1 = vload16(0, x + k) - first, x2 = vload16(0, x + k + 16) - first, d1 = x1 - m, d2 = x2 - m2;
            c += 1;
            const REAL share = 1 / c;
            m = fma(d1, (REAL16)share, m);
            m2 = fma(d2, (REAL16)share, m2);
            v = fma(d1, x1 - m, v);
            v2 = fma(d2, x2 - m2, v2);
        }
        JOIN(m, v, m2, v2, c);
        MOMENTS_PAIRWISE(m, v, k / 32, 2)
    }
    REAL mean = 0, sum = 0;
    const REAL c = k / 32;
    if (k > 0) {
        MOMENTS_END(m, v, k / 32, 2)
        REAL8 m8 = m.lo, v8 = v.lo;
        JOIN(m8, v8, m.hi, v.hi, 2 * c);
        REAL4 m4 = m8.lo, v4 = v8.lo;
        JOIN(m4, v4, m8.hi, v8.hi, 4 * c);
        m2.lo.lo.lo = m4.lo;
        v2.lo.lo.lo = v4.lo;
        JOIN(m2.lo.lo.lo, v2.lo.lo.lo, m4.hi, v4.hi, 8 * c);
        mean = m2.s0;
        sum = v2.s0;
        JOIN(mean, sum, m2.s1, v2.s1, 16 * c);
    }
    for (; k < n; k++) {
        const REAL xk = x[k] - first, d = xk - mean;
        mean += d / (k + 1);
        sum = fma(d, xk - mean, sum);
    }
    *squares = sum;
    return first + mean;
}

// M[(o*shares + s)*inner + i] is the mean of X[(o*len + k)*inner + i] over k of share s: [s*chunk, min(len, (s+1)*chunk)), and V
// there scale times the sum of the squared deviations from it. Where that is NaN, both are.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_moments(IN(X), OUT(M), OUT(V), int outer, int len, int inner, int chunk, int shares, int wide, int tall, REAL scale) {
    const int columns = (inner + 15) / 16, g = get_group_id(0), groups = get_num_groups(0);
    const long units = (long)outer * shares * columns;
    for (int u = units * g / groups; u < units * (g + 1) / groups; u++) {
        const int row = u / columns, c = u % columns * 16, begin = row % shares * chunk, n = min(len - begin, chunk);
        global const REAL *x = X + X_off + (row / shares * len + begin) * inner + c;
        REAL means[16], squares[16];
        const int w = min(16, inner - c);
        if (inner == 1) {
            means[0] = moments_row(x, n, squares);
        } else if (w == 16) {
            const REAL16 first = n > 0 ? vload16(0, x) : 0;
            REAL16 m = 0, v = 0, m_levels[PAIR_LEVELS], v_levels[PAIR_LEVELS];
            for (int k = 0; k < n; k++) {
                const REAL16 xk = vload16(0, x + k * inner) - first, d = xk - m;
                m = fma(d, (REAL16)((REAL)1 / (k % PAIR_TERMS + 1)), m);
                v = fma(d, xk - m, v);
                MOMENTS_PAIRWISE(m, v, k + 1, 1)
            }
            MOMENTS_END(m, v, n, 1)
            vstore16(first + m, 0, means);
            vstore16(v, 0, squares);
        } else {
            for (int j = 0; j < w; j++) {
                const REAL first = n > 0 ? x[j] : 0;
                REAL m = 0, v = 0, m_levels[PAIR_LEVELS], v_levels[PAIR_LEVELS];
                for (int k = 0; k < n; k++) {
                    const REAL xk = x[k * inner + j] - first, d = xk - m;
                    m += d / (k % PAIR_TERMS + 1);
                    v = fma(d, xk - m, v);
                    MOMENTS_PAIRWISE(m, v, k + 1, 1)
                }
                MOMENTS_END(m, v, n, 1)
                means[j] = first + m;
                squares[j] = v;
            }
        }
        for (int j = 0; j < w; j++) {
            M[M_off + row * inner + c + j] = isnan(squares[j]) ? NAN : means[j];
            V[V_off + row * inner + c + j] = scale * squares[j];
        }
    }
}

// Joins the means M and the squared deviations V of shares, [outer, shares, inner], to those of whole lines, Y and Z [outer,
// inner], of which the latter are multiplied by scale.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_moments_join(IN(M), IN(V), OUT(Y), OUT(Z), int outer, int len, int inner, int chunk, int shares, REAL scale) {
    const int o = get_group_id(0) / inner, at = get_group_id(0) % inner;
    REAL mean = 0, sum = 0;
    for (int s = 0; s < shares; s++) mean += M[M_off + (o * shares + s) * inner + at] * ((REAL)min(len - s * chunk, chunk) / len);
    for (int s = 0; s < shares; s++) {
        const REAL d = M[M_off + (o * shares + s) * inner + at] - mean;
        sum += V[V_off + (o * shares + s) * inner + at] + d * d * min(len - s * chunk, chunk);
    }
    Y[Y_off + o * inner + at] = isnan(sum) ? NAN : mean;
    Z[Z_off + o * inner + at] = scale * sum;
}
