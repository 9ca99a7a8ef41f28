// @depends: common, vector, exp, memory
// Attention for CPUs, without the matrix of all queries and keys: Y = softmax(scale·Q·Kᵀ + BIAS)·V, of Q [batch, l, D], K
// [batch, s, D], V [batch, s, E] and BIAS [l, s], or a matrix for each of the batch. Row i of item b of Q begins
// HEAD_OFFSET(q) + i·q_row elements after the first, and those of K, V, Y and its gradient G likewise: heads may lie
// side by side. PART names the one entry point to build: 0, 1 or 2. Source: Dao, Fu, Ermon, Rudra, Ré, "FlashAttention: Fast and Memory-Efficient Exact
// Attention with IO-Awareness", 2022.
//
// A work-item has LANES queries, or keys, in the lanes of vectors, and goes over blocks of the others: of queries, it keeps
// the maximum and the sum of what it saw, and scales what it has when a block has a larger one. Gradients make the
// probabilities again, from the logarithm of the sum, LSE. Both kinds of product stream vectors from the cache, and rows one element
// at a time. Sums run in ascending order: the same input gives the same bits. What SPAN rows come to is added to the sum of those
// before, so that no sum of many rows is one of small terms and a large one. Rows of 16 bits become floats of the work-item's own,
// a block at a time.

#ifndef D
#define D 8 // features of queries and keys
#endif
#ifndef E
#define E 8 // features of values
#endif
#define VECTORS 2
#define LANES (16 * VECTORS)
#define BLOCK 32 // rows at a time, a multiple of ROWS
#define ROWS 8   // that are in registers
#define SPAN (32 * BLOCK)
#define ENDS_SPAN(r0, end) (((r0) + BLOCK) % SPAN == 0 || (r0) + BLOCK >= (end))
#define HEAD_OFFSET(x) (b / heads * x##_outer + b % heads * x##_head)
#define WIDEST (D > E ? D : E)
#define WHOLE(n) (((n) + ROWS - 1) / ROWS * ROWS)

// ROWS_FROM declares rows, a block of n features each that are `apart` from x on, `live` of them, as floats, which are rows##_apart apart.
#ifdef X_HALF
#define FLOATS private const REAL
#define ROWS_FROM(rows, x, n, apart, live)         \
    REAL rows[BLOCK * (n)];                        \
    const int rows##_apart = (n);                  \
    for (int r = 0; r < min(BLOCK, live); r++) widen(rows + r * (n), (x) + r * (apart), n);

// T[c] = X[c] for c < n
static NOINLINE void widen(REAL *T, global const X_MEMORY *x, int n) {
    int c = 0;
    for (; c + 16 <= n; c += 16) vstore16(X_LOAD16(x + c), 0, T + c);
    for (; c < n; c++) T[c] = X_FROM(x[c]);
}
#else
#define FLOATS global const REAL
#define ROWS_FROM(rows, x, n, apart, live) \
    FLOATS *const rows = (x);              \
    const int rows##_apart = (apart);
#endif

// T[c][lane] = scale·X[lane*apart + c] for c < n, the last of `live` rows in the lanes past it.
static NOINLINE void turn(REAL *T, global const X_MEMORY *x, int n, int apart, int live, REAL scale) {
    for (int lane = 0; lane < LANES; lane++) {
        global const X_MEMORY *in_memory = x + min(lane, live - 1) * apart;
#ifdef X_HALF
        REAL row[WIDEST];
        widen(row, in_memory, n);
#else
        global const REAL *row = in_memory;
#endif
        for (int c = 0; c < n; c++) T[c * LANES + lane] = row[c] * scale;
    }
}

// X[lane*apart + c] = T[c][lane]·by[lane].
static NOINLINE void turn_back(global Y_MEMORY *x, const REAL *T, int n, int apart, int live, const REAL *by) {
    for (int lane = 0; lane < min(LANES, live); lane++) {
        int c = 0;
#ifdef Y_HALF
        REAL row[WIDEST];
        for (int i = 0; i < n; i++) row[i] = T[i * LANES + lane] * by[lane];
        for (; c + 16 <= n; c += 16) Y_STORE16(vload16(0, row + c), x + lane * apart + c);
#endif
        for (; c < n; c++) x[lane * apart + c] = Y_TO(T[c * LANES + lane] * by[lane]);
    }
}

// P[r] = Σ_c X[r*apart + c]·T[c] for r < BLOCK; rows past the last of `live` repeat it.
static NOINLINE void rows_by_lanes(REAL *P, FLOATS *x, const REAL *T, int n, int apart, int live) {
    for (int r0 = 0; r0 < BLOCK; r0 += ROWS) {
        REAL16 acc[ROWS][VECTORS];
        FLOATS *row[ROWS];
        _Pragma("unroll") for (int r = 0; r < ROWS; r++) {
            row[r] = x + min(r0 + r, live - 1) * apart;
            _Pragma("unroll") for (int v = 0; v < VECTORS; v++) acc[r][v] = 0;
        }
        for (int c = 0; c < n; c++) {
            REAL16 t[VECTORS];
            _Pragma("unroll") for (int v = 0; v < VECTORS; v++) t[v] = vload16(v, T + c * LANES);
            _Pragma("unroll") for (int r = 0; r < ROWS; r++) {
                const REAL16 a = (REAL16)(row[r][c]);
                _Pragma("unroll") for (int v = 0; v < VECTORS; v++) acc[r][v] = fma(a, t[v], acc[r][v]);
            }
        }
        _Pragma("unroll") for (int r = 0; r < ROWS; r++)
            _Pragma("unroll") for (int v = 0; v < VECTORS; v++) vstore16(acc[r][v], v, P + (r0 + r) * LANES);
    }
}

// T[c] = T[c]·by + Σ_r X[r*apart + c]·P[r] for r < min(BLOCK, live) and c < n.
static NOINLINE void add_rows(REAL *T, FLOATS *x, const REAL *P, int n, int apart, int live, const REAL *by) {
    for (int c0 = 0; c0 < n; c0 += ROWS) {
        REAL16 acc[ROWS][VECTORS];
        int at[ROWS];
        _Pragma("unroll") for (int c = 0; c < ROWS; c++) {
            at[c] = min(c0 + c, n - 1);
            _Pragma("unroll") for (int v = 0; v < VECTORS; v++) acc[c][v] = vload16(v, T + (c0 + c) * LANES) * vload16(v, by);
        }
        for (int r = 0; r < min(BLOCK, live); r++) {
            REAL16 p[VECTORS];
            _Pragma("unroll") for (int v = 0; v < VECTORS; v++) p[v] = vload16(v, P + r * LANES);
            _Pragma("unroll") for (int c = 0; c < ROWS; c++) {
                const REAL16 a = (REAL16)(x[r * apart + at[c]]);
                _Pragma("unroll") for (int v = 0; v < VECTORS; v++) acc[c][v] = fma(a, p[v], acc[c][v]);
            }
        }
        _Pragma("unroll") for (int c = 0; c < ROWS; c++)
            _Pragma("unroll") for (int v = 0; v < VECTORS; v++) vstore16(acc[c][v], v, T + (c0 + c) * LANES);
    }
}

// SUMS[c] = SUMS[c]·by + T[c], and T[c] = 0, for c < WHOLE(n).
static NOINLINE void add_span(REAL *SUMS, REAL *T, int n, const REAL *by) {
    for (int c = 0; c < WHOLE(n); c++)
        for (int v = 0; v < VECTORS; v++) {
            vstore16(fma(vload16(v, SUMS + c * LANES), vload16(v, by), vload16(v, T + c * LANES)), v, SUMS + c * LANES);
            vstore16((REAL16)(0), v, T + c * LANES);
        }
}

// Adds to P[r][lane] what BIAS has for query q and key k, one of which is r0 + r and the other lane0 + lane, and takes keys
// that a query does not attend to out of it: those after it, if it is causal, and past the last.
static NOINLINE void admit(REAL *P, global const X_MEMORY *bias, int biased, int causal, int l, int s, int r0, int lane0, int keys_in_rows) {
    for (int r = 0; r < BLOCK; r++)
        for (int lane = 0; lane < LANES; lane++) {
            const int k = keys_in_rows ? r0 + r : lane0 + lane, q = keys_in_rows ? lane0 + lane : r0 + r;
            if (k >= s || q >= l || (causal && k > q)) P[r * LANES + lane] = -INFINITY;
            else if (biased) P[r * LANES + lane] += X_FROM(bias[q * s + k]);
        }
}

// P[r] = exp(P[r] − lse), 0 where lse is −∞: no key.
static REAL16 probability(REAL16 p, REAL16 lse) { return lse == -INFINITY ? 0 : exp_REAL16(p - lse); }

#if !defined(PART) || PART == 0
// LSE is −∞ for a query that attends to no key, whose Y is 0.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_attention(IN_OF(X_MEMORY, Q), IN_OF(X_MEMORY, K), IN_OF(X_MEMORY, V), IN_OF(X_MEMORY, BIAS), OUT_OF(Y_MEMORY, Y), OUT(LSE),
                 int l, int s, int bias_step, int biased, int causal, REAL scale, int heads,
                 int q_outer, int q_head, int q_row, int k_outer, int k_head, int k_row, int v_outer, int v_head, int v_row,
                 int y_outer, int y_head, int y_row) {
    REAL T[D * LANES], O[WHOLE(E) * LANES], P[BLOCK * LANES], most[LANES], sum[LANES], by[LANES];
    REAL SUMS[WHOLE(E) * LANES], greatest[LANES], whole[LANES]; // O, most and sum of the spans before
    const int b = get_group_id(1), q0 = get_group_id(0) * LANES;
    global const X_MEMORY *k = K + K_off + HEAD_OFFSET(k), *v = V + V_off + HEAD_OFFSET(v), *bias = BIAS + BIAS_off + b * bias_step;
    turn(T, Q + Q_off + HEAD_OFFSET(q) + q0 * q_row, D, q_row, l - q0, scale);
    for (int i = 0; i < WHOLE(E) * LANES; i++) O[i] = SUMS[i] = 0;
    for (int i = 0; i < LANES; i++) {
        most[i] = greatest[i] = -INFINITY;
        sum[i] = whole[i] = 0;
    }
    const int end = causal ? min(s, q0 + LANES) : s;
    for (int k0 = 0; k0 < end; k0 += BLOCK) {
        ROWS_FROM(ks, k + k0 * k_row, D, k_row, s - k0)
        ROWS_FROM(vs, v + k0 * v_row, E, v_row, s - k0)
        rows_by_lanes(P, ks, T, D, ks_apart, s - k0);
        if (biased || k0 + BLOCK > s || (causal && k0 + BLOCK > q0)) admit(P, bias, biased, causal, l, s, k0, q0, 1);
        for (int u = 0; u < VECTORS; u++) {
            const REAL16 before = vload16(u, most);
            REAL16 m = before, n = 0;
            for (int r = 0; r < BLOCK; r++) m = larger16(m, vload16(u, P + r * LANES));
            const REAL16 from = m == -INFINITY ? 0 : m, factor = exp_REAL16(before - from);
            for (int r = 0; r < BLOCK; r++) {
                const REAL16 p = exp_REAL16(vload16(u, P + r * LANES) - from);
                vstore16(p, u, P + r * LANES);
                n += p;
            }
            vstore16(m, u, most);
            vstore16(factor, u, by);
            vstore16(fma(vload16(u, sum), factor, n), u, sum);
        }
        add_rows(O, vs, P, E, vs_apart, s - k0, by);
        if (!ENDS_SPAN(k0, end)) continue;
        for (int u = 0; u < VECTORS; u++) {
            const REAL16 m = vload16(u, most), factor = exp_REAL16(vload16(u, greatest) - (m == -INFINITY ? 0 : m));
            vstore16(m, u, greatest);
            vstore16(factor, u, by);
            vstore16(fma(vload16(u, whole), factor, vload16(u, sum)), u, whole);
            vstore16((REAL16)(0), u, sum);
        }
        add_span(SUMS, O, E, by);
    }
    for (int i = 0; i < LANES; i++) {
        by[i] = whole[i] == 0 ? 0 : 1 / whole[i];
        if (q0 + i < l) LSE[LSE_off + b * l + q0 + i] = most[i] + log(whole[i]);
    }
    turn_back(Y + Y_off + HEAD_OFFSET(y) + q0 * y_row, SUMS, E, y_row, l - q0, by);
}
#endif

#if !defined(PART) || PART == 1
// DQ = scale·(P·(G·Vᵀ − DELTA))·K, with the probabilities P, and DELTA [batch, l] = Σ_e G·Y.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_attention_grad_q(IN_OF(X_MEMORY, Q), IN_OF(X_MEMORY, K), IN_OF(X_MEMORY, V), IN_OF(X_MEMORY, BIAS), IN(Y), IN(LSE),
                        IN_OF(X_MEMORY, G), OUT_OF(Y_MEMORY, DQ), OUT(DELTA), int l, int s, int bias_step,
                        int biased, int causal, REAL scale, int heads,
                        int q_outer, int q_head, int q_row, int k_outer, int k_head, int k_row, int v_outer, int v_head, int v_row,
                        int y_outer, int y_head, int y_row, int g_outer, int g_head, int g_row) {
    REAL T[D * LANES], U[E * LANES], O[WHOLE(D) * LANES], P[BLOCK * LANES], R[BLOCK * LANES], lse[LANES], delta[LANES], by[LANES];
    REAL SUMS[WHOLE(D) * LANES]; // O of the spans before
    const int b = get_group_id(1), q0 = get_group_id(0) * LANES;
    global const X_MEMORY *k = K + K_off + HEAD_OFFSET(k), *v = V + V_off + HEAD_OFFSET(v), *bias = BIAS + BIAS_off + b * bias_step;
    turn(T, Q + Q_off + HEAD_OFFSET(q) + q0 * q_row, D, q_row, l - q0, scale);
    turn(U, G + G_off + HEAD_OFFSET(g) + q0 * g_row, E, g_row, l - q0, 1);
    for (int i = 0; i < WHOLE(D) * LANES; i++) O[i] = SUMS[i] = 0;
    for (int i = 0; i < LANES; i++) {
        const int row = min(q0 + i, l - 1), q = b * l + row;
        global const REAL *y = Y + Y_off + HEAD_OFFSET(y) + row * y_row;
        REAL d = 0;
        for (int e = 0; e < E; e++) d = fma(U[e * LANES + i], y[e], d);
        delta[i] = d;
        lse[i] = LSE[LSE_off + q];
        by[i] = 1;
        if (q0 + i < l) DELTA[DELTA_off + q] = d;
    }
    const int end = causal ? min(s, q0 + LANES) : s;
    for (int k0 = 0; k0 < end; k0 += BLOCK) {
        ROWS_FROM(ks, k + k0 * k_row, D, k_row, s - k0)
        ROWS_FROM(vs, v + k0 * v_row, E, v_row, s - k0)
        rows_by_lanes(P, ks, T, D, ks_apart, s - k0);
        rows_by_lanes(R, vs, U, E, vs_apart, s - k0);
        if (biased || k0 + BLOCK > s || (causal && k0 + BLOCK > q0)) admit(P, bias, biased, causal, l, s, k0, q0, 1);
        for (int r = 0; r < BLOCK; r++)
            for (int u = 0; u < VECTORS; u++) {
                const REAL16 p = probability(vload16(u, P + r * LANES), vload16(u, lse));
                vstore16(p * (vload16(u, R + r * LANES) - vload16(u, delta)), u, P + r * LANES);
            }
        add_rows(O, ks, P, D, ks_apart, s - k0, by);
        if (ENDS_SPAN(k0, end)) add_span(SUMS, O, D, by);
    }
    for (int i = 0; i < LANES; i++) by[i] = scale;
    turn_back(DQ + DQ_off + (b * l + q0) * D, SUMS, D, D, l - q0, by);
}
#endif

#if !defined(PART) || PART == 2
// DK = scale·(P·(G·Vᵀ − DELTA))ᵀ·Q and DV = Pᵀ·G, with keys in the lanes.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_attention_grad_kv(IN_OF(X_MEMORY, Q), IN_OF(X_MEMORY, K), IN_OF(X_MEMORY, V), IN_OF(X_MEMORY, BIAS), IN(LSE), IN(DELTA),
                         IN_OF(X_MEMORY, G), OUT_OF(Y_MEMORY, DK), OUT_OF(Y_MEMORY, DV), int l, int s, int bias_step,
                         int biased, int causal, REAL scale, int heads,
                         int q_outer, int q_head, int q_row, int k_outer, int k_head, int k_row, int v_outer, int v_head, int v_row,
                         int g_outer, int g_head, int g_row) {
    REAL T[D * LANES], U[E * LANES], O[WHOLE(D) * LANES], W[WHOLE(E) * LANES], P[BLOCK * LANES], R[BLOCK * LANES], by[LANES];
    REAL SUMS_O[WHOLE(D) * LANES], SUMS_W[WHOLE(E) * LANES]; // of the spans before
    const int b = get_group_id(1), k0 = get_group_id(0) * LANES;
    global const X_MEMORY *q = Q + Q_off + HEAD_OFFSET(q), *g = G + G_off + HEAD_OFFSET(g), *bias = BIAS + BIAS_off + b * bias_step;
    global const REAL *lse = LSE + LSE_off + b * l, *delta = DELTA + DELTA_off + b * l;
    turn(T, K + K_off + HEAD_OFFSET(k) + k0 * k_row, D, k_row, s - k0, scale);
    turn(U, V + V_off + HEAD_OFFSET(v) + k0 * v_row, E, v_row, s - k0, 1);
    for (int i = 0; i < WHOLE(D) * LANES; i++) O[i] = SUMS_O[i] = 0;
    for (int i = 0; i < WHOLE(E) * LANES; i++) W[i] = SUMS_W[i] = 0;
    for (int i = 0; i < LANES; i++) by[i] = 1;
    for (int q0 = causal ? k0 / BLOCK * BLOCK : 0; q0 < l; q0 += BLOCK) {
        ROWS_FROM(qs, q + q0 * q_row, D, q_row, l - q0)
        ROWS_FROM(gs, g + q0 * g_row, E, g_row, l - q0)
        rows_by_lanes(P, qs, T, D, qs_apart, l - q0);
        rows_by_lanes(R, gs, U, E, gs_apart, l - q0);
        if (biased || q0 + BLOCK > l || k0 + LANES > s || (causal && k0 + LANES > q0)) admit(P, bias, biased, causal, l, s, q0, k0, 0);
        for (int r = 0; r < BLOCK; r++) {
            const int at = min(q0 + r, l - 1);
            for (int u = 0; u < VECTORS; u++) {
                const REAL16 p = probability(vload16(u, P + r * LANES), (REAL16)(lse[at]));
                vstore16(p, u, P + r * LANES);
                vstore16(p * (vload16(u, R + r * LANES) - delta[at]), u, R + r * LANES);
            }
        }
        add_rows(O, qs, R, D, qs_apart, l - q0, by);
        add_rows(W, gs, P, E, gs_apart, l - q0, by);
        if (!ENDS_SPAN(q0, l)) continue;
        add_span(SUMS_O, O, D, by);
        add_span(SUMS_W, W, E, by);
    }
    turn_back(DV + DV_off + (b * s + k0) * E, SUMS_W, E, E, s - k0, by);
    for (int i = 0; i < LANES; i++) by[i] = scale;
    turn_back(DK + DK_off + (b * s + k0) * D, SUMS_O, D, D, s - k0, by);
}
#endif
