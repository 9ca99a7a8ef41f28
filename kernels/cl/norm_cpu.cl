// @depends: common, vector, norm, pairwise
// Rows that are divided by their deviation or their size, and channels of a batch, for CPUs: a work-item for a run of them,
// vectors of sixteen. What it reads again is in the cache.
//
// A mean is that of the row's sum, and then of what is left of it; squares are those of the differences from the first, less
// the square of that rest. Source: Chan, Golub, LeVeque, "Algorithms for Computing the Sample Variance", The American
// Statistician 37, 1983, the corrected two-pass algorithm.

// The gradient of a norm of rows of one group with a channel for each element, g being that of Y times W: with
// h = (X − MEAN)·RSTD, D = RSTD·(g − mean g − h·mean g·h), less the second term if form is not CENTRED. If it has PARTIALS,
// DW[s, k] = Σ G·h and DB[s, k] = Σ G over a run s of rows.
static void norm_grad(IN(X), IN(G), IN(W), IN(MEAN), IN(RSTD), OUT(D), OUT(DW), OUT(DB), int rows, int len, int run, int form, int from, int to) {
    global const REAL *w = W + W_off;
    global REAL *dw = DW + DW_off + from / run * len, *db = DB + DB_off + from / run * len;
    for (int r = from; r < to; r++) {
        global const REAL *x = X + X_off + r * len, *g = G + G_off + r * len;
        global REAL *d = D + D_off + r * len;
        const REAL mean = MEAN[MEAN_off + r], rstd = RSTD[RSTD_off + r];
        REAL16 gs = 0, hs = 0, g_levels[PAIR_LEVELS], h_levels[PAIR_LEVELS];
        for (int k = 0; k < len; k += 16) {
            const REAL16 h = (load16(x + k, len - k, mean) - mean) * rstd, up = load16(g + k, len - k, 0);
            const REAL16 v = form & WEIGHTS ? up * load16(w + k, len - k, 0) : up;
            gs += v;
            hs = fma(v, h, hs);
            if (form & PARTIALS) {
                store16(r == from ? up * h : fma(up, h, load16(dw + k, len - k, 0)), dw + k, len - k);
                store16(r == from ? up : up + load16(db + k, len - k, 0), db + k, len - k);
            }
            PAIRWISE(gs, g_levels, k / 16 + 1)
            PAIRWISE(hs, h_levels, k / 16 + 1)
        }
        PAIRWISE_END(gs, g_levels, (len + 15) / 16)
        PAIRWISE_END(hs, h_levels, (len + 15) / 16)
        const REAL by_g = form & CENTRED ? sum16(gs) / len : 0, by_h = sum16(hs) / len;
        for (int k = 0; k < len; k += 16) {
            const REAL16 h = (load16(x + k, len - k, 0) - mean) * rstd;
            REAL16 v = load16(g + k, len - k, 0);
            if (form & WEIGHTS) v *= load16(w + k, len - k, 0);
            store16(rstd * (v - by_g - h * by_h), d + k, len - k);
        }
    }
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_norm_grad(IN(X), IN(G), IN(W), IN(MEAN), IN(RSTD), OUT(D), OUT(DW), OUT(DB), int rows, int len, int run, int form) {
    const int from = get_group_id(0) * run;
    norm_grad(X, X_off, G, G_off, W, W_off, MEAN, MEAN_off, RSTD, RSTD_off, D, D_off, DW, DW_off, DB, DB_off, rows, len, run, form,
              from, min(rows, from + run));
}
#endif

// MEAN[p, c] = the mean of X[n, c, i] over i and n of part p, which has `run` of them, and SQ[p, c] = Σ (X[n, c, i] − MEAN[p, c])².
#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_channel_moments(IN(X), OUT(MEAN), OUT(SQ), int outer, int channels, int inner, int run) {
    const int n0 = get_group_id(1) * run, n1 = min(outer, n0 + run), step = channels * inner;
    const REAL count = (REAL)(n1 - n0) * inner;
    REAL16 s_levels[PAIR_LEVELS], q_levels[PAIR_LEVELS];
    global REAL *means = MEAN + MEAN_off + get_group_id(1) * channels, *squares = SQ + SQ_off + get_group_id(1) * channels;
    if (inner == 1) {
        RUN((channels + 15) / 16)
        for (int u = from; u < to; u++) {
            const int c = u * 16, width = channels - c;
            global const REAL *x = X + X_off + c;
            REAL16 s = 0, q = 0;
            for (int n = n0; n < n1; n++) {
                s += load16(x + n * step, width, 0);
                PAIRWISE(s, s_levels, n - n0 + 1)
            }
            PAIRWISE_END(s, s_levels, n1 - n0)
            const REAL16 mean = s / count;
            s = 0;
            for (int n = n0; n < n1; n++) {
                const REAL16 d = load16(x + n * step, width, 0) - mean;
                s += d;
                q = fma(d, d, q);
                PAIRWISE(s, s_levels, n - n0 + 1)
                PAIRWISE(q, q_levels, n - n0 + 1)
            }
            PAIRWISE_END(s, s_levels, n1 - n0)
            PAIRWISE_END(q, q_levels, n1 - n0)
            s = isnan(s) ? 0 : s / count;
            store16(mean + s, means + c, width);
            q -= s * s * count;
            store16(q < 0 ? 0 : q, squares + c, width);
        }
        return;
    }
    RUN(channels)
    for (int c = from; c < to; c++) {
        global const REAL *x = X + X_off + c * inner;
        REAL16 s = 0, q = 0;
        int terms = 0;
        for (int n = n0; n < n1; n++)
            for (int k = 0; k < inner; k += 16) {
                s += load16(x + n * step + k, inner - k, 0);
                terms++;
                PAIRWISE(s, s_levels, terms)
            }
        PAIRWISE_END(s, s_levels, terms)
        const REAL mean = sum16(s) / count;
        s = 0;
        terms = 0;
        for (int n = n0; n < n1; n++)
            for (int k = 0; k < inner; k += 16) {
                const REAL16 d = load16(x + n * step + k, inner - k, mean) - mean;
                s += d;
                q = fma(d, d, q);
                terms++;
                PAIRWISE(s, s_levels, terms)
                PAIRWISE(q, q_levels, terms)
            }
        PAIRWISE_END(s, s_levels, terms)
        PAIRWISE_END(q, q_levels, terms)
        const REAL rest = left(sum16(s) / count);
        means[c] = mean + rest;
        const REAL square = sum16(q) - rest * rest * count;
        squares[c] = square < 0 ? 0 : square;
    }
}
#endif

// SG[p, c] = Σ G[n, c, i] and SH[p, c] = Σ G[n, c, i]·(X[n, c, i] − MEAN[c/per])·RSTD[c/per] over i and n of part p.
#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_channel_sums(IN(X), IN(G), IN(MEAN), IN(RSTD), OUT(SG), OUT(SH), int outer, int channels, int inner, int run, int share) {
    const int n0 = get_group_id(1) * run, n1 = min(outer, n0 + run), step = channels * inner;
    REAL16 s_levels[PAIR_LEVELS], q_levels[PAIR_LEVELS];
    global REAL *gs = SG + SG_off + get_group_id(1) * channels, *hs = SH + SH_off + get_group_id(1) * channels;
    if (inner == 1) {
        RUN((channels + 15) / 16)
        for (int u = from; u < to; u++) {
            const int c = u * 16, width = channels - c;
            REAL each[16], rstds[16];
            for (int j = 0; j < 16; j++) {
                const int at = min(c + j, channels - 1) / share;
                each[j] = MEAN[MEAN_off + at];
                rstds[j] = RSTD[RSTD_off + at];
            }
            const REAL16 mean = vload16(0, each);
            REAL16 s = 0, q = 0;
            for (int n = n0; n < n1; n++) {
                const REAL16 up = load16(G + G_off + c + n * step, width, 0);
                s += up;
                q = fma(up, load16(X + X_off + c + n * step, width, 0) - mean, q);
                PAIRWISE(s, s_levels, n - n0 + 1)
                PAIRWISE(q, q_levels, n - n0 + 1)
            }
            PAIRWISE_END(s, s_levels, n1 - n0)
            PAIRWISE_END(q, q_levels, n1 - n0)
            store16(s, gs + c, width);
            store16(q * vload16(0, rstds), hs + c, width);
        }
        return;
    }
    RUN(channels)
    for (int c = from; c < to; c++) {
        const REAL mean = MEAN[MEAN_off + c / share];
        REAL16 s = 0, q = 0;
        int terms = 0;
        for (int n = n0; n < n1; n++)
            for (int k = 0; k < inner; k += 16) {
                const int at = c * inner + n * step + k;
                const REAL16 up = load16(G + G_off + at, inner - k, 0);
                s += up;
                q = fma(up, load16(X + X_off + at, inner - k, mean) - mean, q);
                terms++;
                PAIRWISE(s, s_levels, terms)
                PAIRWISE(q, q_levels, terms)
            }
        PAIRWISE_END(s, s_levels, terms)
        PAIRWISE_END(q, q_levels, terms)
        gs[c] = sum16(s);
        hs[c] = sum16(q) * RSTD[RSTD_off + c / share];
    }
}
#endif
