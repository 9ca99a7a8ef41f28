// @depends: common, rows_gpu, norm
// Rows that are divided by their deviation or their size, and channels of a batch, for GPUs: a work-group for a row, or for
// several short ones. Lanes keep their elements in registers, so that a row of up to PER for each is read once. The formulas
// are those of norm_cpu.cl, with an fma for each product that is added to something: compilers for GPUs join such pairs or not, by
// what else a launch does, and a launch that does more has the same bits.

// A group has a run of rows, as many beside each other as its items allow, and sums the gradients of weights and biases in
// registers; rows that do not fit in them have a group for themselves, and sums in DW and DB.
static INLINE void norm_grad(IN(X), IN(G), IN(W), IN(MEAN), IN(RSTD), OUT(D), OUT(DW), OUT(DB), int rows, int len, int run, int form, int group,
                      local REAL2 *t) {
    LINES(len, 0)
    const int from = group * run, to = min(rows, from + run);
    global const REAL *w = W + W_off;
    global REAL *dw = DW + DW_off + group * len, *db = DB + DB_off + group * len;
    const int fours = FOURS(len, X_off | G_off | D_off);
    REAL h[PER], up[PER], hs[PER], gs[PER];
    _Pragma("unroll") for (int j = 0; j < PER; j++) hs[j] = gs[j] = 0;
    // A row is read while the one before it is worked on.
    REAL next_h[PER], next_up[PER], next_mean, next_rstd;
    {
        const int r = from + place, count = r < to ? len : 0;
        next_mean = r < to ? MEAN[MEAN_off + r] : 0;
        next_rstd = r < to ? RSTD[RSTD_off + r] : 0;
        LOAD_KEPT(REAL, next_up, G + G_off + r * len, fours, 1, 0)
        LOAD_KEPT(REAL, next_h, X + X_off + r * len, fours, 1, 0)
    }
    for (int r0 = from; r0 < from + run; r0 += beside) {
        const int r = r0 + place, count = r < to ? len : 0;
        global const REAL *x = X + X_off + r * len, *g = G + G_off + r * len;
        global REAL *d = D + D_off + r * len;
        REAL2 sums = 0;
        const REAL mean = next_mean, rstd = next_rstd;
        _Pragma("unroll") for (int j = 0; j < PER; j++) {
            up[j] = next_up[j];
            h[j] = INDEX_OF(j) < count ? (next_h[j] - mean) * rstd : 0;
        }
        {
            const int next = r + beside, count = r0 + beside < from + run && next < to ? len : 0;
            next_mean = count > 0 ? MEAN[MEAN_off + next] : 0;
            next_rstd = count > 0 ? RSTD[RSTD_off + next] : 0;
            LOAD_KEPT(REAL, next_up, g + beside * len, fours, 1, 0)
            LOAD_KEPT(REAL, next_h, x + beside * len, fours, 1, 0)
        }
        _Pragma("unroll") for (int j = 0; j < PER; j++) {
            gs[j] += up[j];
            hs[j] = fma(up[j], h[j], hs[j]);
        }
        if (form & WEIGHTS) {
            REAL ws[PER];
            LOAD_KEPT(REAL, ws, w, fours && FOURS(0, W_off), 1, 0)
            _Pragma("unroll") for (int j = 0; j < PER; j++) up[j] *= ws[j];
        }
        _Pragma("unroll") for (int j = 0; j < PER; j++) {
            sums = (REAL2)(sums.x + up[j], fma(up[j], h[j], sums.y));
        }
        PAIRWISE_REST(sums, REAL2, {
            const REAL u = g[k];
            const REAL e = (x[k] - mean) * rstd;
            const REAL v = form & WEIGHTS ? u * w[k] : u;
            sums = (REAL2)(sums.x + v, fma(v, e, sums.y));
            if (form & PARTIALS) {
                dw[k] = r == from ? u * e : fma(u, e, dw[k]);
                db[k] = r == from ? u : u + db[k];
            }
        })
        const REAL2 both = tree_sums(t, sums, slot, lane, lanes, step) / len;
        const REAL by_g = form & CENTRED ? both.x : 0, by_h = both.y;
        _Pragma("unroll") for (int j = 0; j < PER; j++) h[j] = rstd * fma(-h[j], by_h, up[j] - by_g);
        STORE_KEPT(h, d, fours, 1)
        for (int k = lane + PER * lanes; k < count; k += lanes)
            d[k] = rstd * fma(-((x[k] - mean) * rstd), by_h, (form & WEIGHTS ? fma(g[k], w[k], -by_g) : g[k] - by_g));
    }
    const int kept = form & PARTIALS && from < rows ? min((len + 4 * lanes - 1) / (4 * lanes) * 4, PER) : 0;
    for (int j = 0; j < kept; j++) {
        REAL a = 0, b = 0; // hs[j] and gs[j], of registers, which have no index
        _Pragma("unroll") for (int i = 0; i < PER; i++) {
            a = i == j ? hs[i] : a;
            b = i == j ? gs[i] : b;
        }
        const REAL2 both = tree_sums(t, (REAL2)(a, b), slot, place, beside, lanes);
        const int k = INDEX_OF(j);
        if (k < len && place == 0) {
            dw[k] = both.x;
            db[k] = both.y;
        }
    }
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void k_norm_grad(IN(X), IN(G), IN(W), IN(MEAN), IN(RSTD), OUT(D), OUT(DW), OUT(DB), int rows, int len, int run, int form) {
    local REAL2 t[2 * GROUP];
    norm_grad(X, X_off, G, G_off, W, W_off, MEAN, MEAN_off, RSTD, RSTD_off, D, D_off, DW, DW_off, DB, DB_off, rows, len, run, form,
              get_group_id(0), t);
}
#endif

// A line is a channel: its lanes go over the elements i of the items n of a part, `lanes` further with each step. Channels of
// one element lie beside each other.
#define CHANNELS                                                                                                 \
    local REAL2 t[2 * GROUP];                                                                                    \
    LINES(min(run, outer) * inner, inner == 1)                                                                   \
    const int c = get_group_id(0) * beside + place, part = get_group_id(1);                                      \
    const int n0 = part * run, n1 = c < channels ? min(outer, n0 + run) : 0;                                     \
    const int first_n = n0 + lane / inner, first_i = lane % inner, next_n = lanes / inner, next_i = lanes % inner;

// Adds to s, of type T, by `body`, the elements of a lane: see pairwise.cl.
#define EACH(s, T, body)                                                  \
    {                                                                     \
        T levels[PAIR_LEVELS];                                            \
        int terms = 0;                                                    \
        for (int n = first_n, i = first_i; n < n1;) {                     \
            const int at = (n * channels + c) * inner + i;                \
            body;                                                         \
            terms++;                                                      \
            PAIRWISE(s, levels, terms)                                    \
            n += next_n;                                                  \
            i += next_i;                                                  \
            if (i >= inner) {                                             \
                i -= inner;                                               \
                n++;                                                      \
            }                                                             \
        }                                                                 \
        PAIRWISE_END(s, levels, terms)                                    \
    }

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void k_channel_moments(IN(X), OUT(MEAN), OUT(SQ), int outer, int channels, int inner, int run) {
    CHANNELS
    const REAL count = (REAL)(min(outer, n0 + run) - n0) * inner;
    REAL s = 0;
    EACH(s, REAL, s += X[X_off + at])
    const REAL mean = tree_sums(t, (REAL2)(s, 0), slot, lane, lanes, step).x / count;
    REAL2 sums = 0;
    EACH(sums, REAL2, const REAL d = X[X_off + at] - mean; sums = (REAL2)(sums.x + d, fma(d, d, sums.y)))
    const REAL2 both = tree_sums(t, sums, slot, lane, lanes, step);
    const REAL rest = left(both.x / count);
    if (lane == 0 && c < channels) {
        MEAN[MEAN_off + part * channels + c] = mean + rest;
        const REAL square = both.y - rest * rest * count;
        SQ[SQ_off + part * channels + c] = square < 0 ? 0 : square;
    }
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void k_channel_sums(IN(X), IN(G), IN(MEAN), IN(RSTD), OUT(SG), OUT(SH), int outer, int channels, int inner, int run, int share) {
    CHANNELS
    const REAL mean = c < channels ? MEAN[MEAN_off + c / share] : 0;
    REAL2 sums = 0;
    EACH(sums, REAL2, const REAL up = G[G_off + at]; sums = (REAL2)(sums.x + up, fma(up, X[X_off + at] - mean, sums.y)))
    const REAL2 both = tree_sums(t, sums, slot, lane, lanes, step);
    if (lane == 0 && c < channels) {
        SG[SG_off + part * channels + c] = both.x;
        SH[SH_off + part * channels + c] = both.y * RSTD[RSTD_off + c / share];
    }
}
#endif
