// @depends: common, warp, memory
// Attention for GPUs, without the matrix of all queries and keys: what attention_cpu.cl computes, of operands that lie as it
// says. Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.
//
// A work-group (item of the batch, tile) has ROWS queries, or keys, in local memory, and goes over blocks of COLS of the
// others. TX neighbouring work-items share R rows, of which each has every TX-th product with the columns, and every TX-th
// four of the features of the result: they lie in one warp. Of queries a work-item keeps the maximum of what all of them saw,
// and the sum of what it saw itself. Where there are fewer groups than tiles, each has two, the first and the last, or the
// second and the last but one: of a causal attention that is as much work as any other two. Sums run in a fixed order: the
// same input gives the same bits.

#ifndef D
#define D 8 // features of queries and keys
#endif
#ifndef E
#define E 8 // features of values
#endif
#ifndef TILE_ROWS
#define TILE_ROWS 32 // a multiple of ITEM_ROWS
#endif
#ifndef TILE_COLS
#define TILE_COLS 32 // of a block, a multiple of ROW_ITEMS
#endif
#ifndef ITEM_ROWS
#define ITEM_ROWS 2 // rows of a work-item
#endif
#ifndef ROW_ITEMS
#define ROW_ITEMS 8 // work-items that share rows: 8, 16 or 32
#endif
#define ROWS TILE_ROWS
#define COLS TILE_COLS
#define R ITEM_ROWS
#define TX ROW_ITEMS
#define TY (ROWS / R)
#define ITEMS (TX * TY)
#define C (COLS / TX)
#define VECTORS_OF(n) (((n) + 4 * TX - 1) / (4 * TX)) // of n features, that a work-item has
#define WIDE(n) (TX * VECTORS_OF(n))                  // fours of a staged row, zeros past its features
#define PITCH(n) (WIDE(n) + 1)                   // an odd number: neighbouring rows are on other banks
#define PITCH_P ((COLS + TX) / 4)
#define P(i, k) p[(ty + TY * (i)) * 4 * PITCH_P + (k)]
#define HEAD_OFFSET(x) (b / heads * x##_outer + b % heads * x##_head)
#define ALIGNED(X, x) ((X##_off | x##_outer | x##_head | x##_row) % 4 == 0)
#define EACH(i, n) _Pragma("unroll") for (int i = 0; i < n; i++)

// v[i] of all items that share row i, joined, for each of them.
#ifdef NVIDIA_PTX
#define ROWS_BARRIER asm volatile("bar.warp.sync 0xffffffff;" : : : "memory")
#define JOIN(v, JOINED)                           \
    for (int mask = 1; mask < TX; mask *= 2) {    \
        EACH(i, R) {                              \
            const REAL x = v[i], y = other(x, mask); \
            v[i] = JOINED;                        \
        }                                         \
    }
#else
#define ROWS_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define JOIN(v, JOINED)                    \
    barrier(CLK_LOCAL_MEM_FENCE);          \
    EACH(i, R) P(i, tx) = v[i];            \
    barrier(CLK_LOCAL_MEM_FENCE);          \
    EACH(i, R) {                           \
        REAL x = P(i, 0);                  \
        for (int at = 1; at < TX; at++) {  \
            const REAL y = P(i, at);       \
            x = JOINED;                    \
        }                                  \
        v[i] = x;                          \
    }                                      \
    barrier(CLK_LOCAL_MEM_FENCE);
#endif

// Up to four neighbours from x on, zeros past `count`.
#define LOAD4(load4, T, T4, FROM, FROM4)                                                     \
    static REAL4 load4(global const T *x, int count, int aligned) {                          \
        if (count >= 4) return aligned ? FROM4(*(global const T4 *)x) : FROM4(vload4(0, x)); \
        REAL4 v = 0;                                                                         \
        if (count > 0) v.s0 = FROM(x[0]);                                                    \
        if (count > 1) v.s1 = FROM(x[1]);                                                    \
        if (count > 2) v.s2 = FROM(x[2]);                                                    \
        return v;                                                                            \
    }
LOAD4(load4, X_MEMORY, X_MEMORY4, X_FROM, X_FROM4)
LOAD4(load4_real, REAL, REAL4, , )

static void put4(REAL4 v, global Y_MEMORY *x, int count, int aligned) {
    const Y_MEMORY4 y = Y_TO4(v);
    if (count >= 4 && aligned) *(global Y_MEMORY4 *)x = y;
    else {
        if (count > 0) x[0] = y.s0;
        if (count > 1) x[1] = y.s1;
        if (count > 2) x[2] = y.s2;
        if (count > 3) x[3] = y.s3;
    }
}

// Puts scale·X[r*apart + c], `live` rows of n features and zeros past them, into `rows` rows of T.
static void stage(local REAL4 *T, global const X_MEMORY *x, int rows, int n, int apart, int live, REAL scale, int aligned) {
    _Pragma("unroll") for (int e = get_local_id(0); e < rows * WIDE(n); e += ITEMS) {
        const int r = e / WIDE(n), c = e % WIDE(n), rest = 4 * WIDE(n) == n ? 4 : n - 4 * c;
        T[r * PITCH(n) + c] = scale * load4(x + r * apart + 4 * c, r < live ? rest : 0, aligned);
    }
}

// S[i][j] = Σ_c A[row i][c]·B[column j][c] for c < n
static void scores(REAL (*S)[C], local const REAL4 *A, local const REAL4 *B, int n, int tx, int ty) {
    EACH(i, R) EACH(j, C) S[i][j] = 0;
    _Pragma("unroll 4") for (int c = 0; c < (n + 3) / 4; c++) {
        REAL4 x[R], y[C];
        EACH(i, R) x[i] = A[(ty + TY * i) * PITCH(n) + c];
        EACH(j, C) y[j] = B[(tx + TX * j) * PITCH(n) + c];
        EACH(i, R) EACH(j, C) S[i][j] = fma(x[i].s0, y[j].s0, S[i][j]);
        EACH(i, R) EACH(j, C) S[i][j] = fma(x[i].s1, y[j].s1, S[i][j]);
        EACH(i, R) EACH(j, C) S[i][j] = fma(x[i].s2, y[j].s2, S[i][j]);
        EACH(i, R) EACH(j, C) S[i][j] = fma(x[i].s3, y[j].s3, S[i][j]);
    }
}

// The score of query q and key k with BIAS, −∞ where the one does not attend to the other: to keys after it, if it is
// causal, and past the last.
static REAL admitted(REAL score, global const X_MEMORY *bias, int biased, int causal, int l, int s, int q, int k) {
    if (k >= s || q >= l || (causal && k > q)) return -INFINITY;
    return biased ? score + X_FROM(bias[q * s + k]) : score;
}

// exp(score − lse), 0 where lse is −∞: no key.
static REAL probability(REAL score, REAL lse) { return lse == -INFINITY ? 0 : exp(score - lse); }

// What items that share rows have, for all of them: `add` reads it.
#define PUT(S)                                         \
    EACH(i, R) EACH(j, C) P(i, tx + TX * j) = S[i][j]; \
    ROWS_BARRIER;

// Of rows of n features: O[i][w] += Σ_k P[row i][k]·B[k][four w], and X[row i*apart + c] = by[i]·O, `live` rows.
#define ROWS_OF(n)                                                                                             \
    static void add_##n(REAL4 (*O)[VECTORS_OF(n)], local const REAL *p, local const REAL4 *B, int tx, int ty) { \
        _Pragma("unroll 2") for (int k = 0; k < COLS; k += 4) {                                                \
            REAL4 x[R];                                                                                        \
            EACH(i, R) x[i] = *(local const REAL4 *)&P(i, k);                                                  \
            ADD_ROW(s0, k, n) ADD_ROW(s1, k + 1, n) ADD_ROW(s2, k + 2, n) ADD_ROW(s3, k + 3, n)                \
        }                                                                                                      \
    }                                                                                                          \
    static void write_##n(global Y_MEMORY *x, REAL4 (*O)[VECTORS_OF(n)], const REAL *by, int apart, int live, int aligned, int tx, int ty) { \
        EACH(i, R) EACH(w, VECTORS_OF(n)) {                                                                    \
            const int r = ty + TY * i, c = 4 * (tx + TX * w);                                                  \
            if (r < live && c < n) put4(by[i] * O[i][w], x + r * apart + c, n - c, aligned);                   \
        }                                                                                                      \
    }
#define ADD_ROW(at, k, n)                                                 \
    EACH(w, VECTORS_OF(n)) {                                              \
        const REAL4 y = B[(k) * PITCH(n) + tx + TX * w];                  \
        EACH(i, R) O[i][w] = fma((REAL4)(x[i].at), y, O[i][w]);           \
    }
ROWS_OF(D)
ROWS_OF(E)

// What all kernels begin with, of n rows in tiles, and each of the turns of a group.
#define BEGIN(n)                                                                                                       \
    local REAL *p = (local REAL *)ps;                                                                                  \
    const int tx = get_local_id(0) % TX, ty = get_local_id(0) / TX, b = get_group_id(0), group = get_group_id(1);      \
    const int last = ((n) - 1) / ROWS, turns = get_num_groups(1) > last || 2 * group == last ? 1 : 2;                  \
    global const X_MEMORY *q = Q + Q_off + HEAD_OFFSET(q), *k = K + K_off + HEAD_OFFSET(k), *v = V + V_off + HEAD_OFFSET(v); \
    global const X_MEMORY *bias = BIAS + BIAS_off + b * bias_step;

#if !defined(PART) || PART == 0
// LSE is −∞ for a query that attends to no key, whose Y is 0.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_attention(IN_OF(X_MEMORY, Q), IN_OF(X_MEMORY, K), IN_OF(X_MEMORY, V), IN_OF(X_MEMORY, BIAS), OUT_OF(Y_MEMORY, Y), OUT(LSE),
                 int l, int s, int bias_step, int biased, int causal, REAL scale, int heads,
                 int q_outer, int q_head, int q_row, int k_outer, int k_head, int k_row, int v_outer, int v_head, int v_row,
                 int y_outer, int y_head, int y_row) {
    local REAL4 qs[ROWS * PITCH(D)], ks[COLS * PITCH(D)], vs[COLS * PITCH(E)], ps[ROWS * PITCH_P];
    BEGIN(l)
    for (int turn = 0; turn < turns; turn++) {
        const int q0 = (turn ? group : last - group) * ROWS, end = causal ? min(s, q0 + ROWS) : s; // what takes longest first
        barrier(CLK_LOCAL_MEM_FENCE);
        stage(qs, q + q0 * q_row, ROWS, D, q_row, l - q0, scale, ALIGNED(Q, q));
        REAL4 O[R][VECTORS_OF(E)];
        REAL most[R], sum[R];
        EACH(i, R) {
            EACH(w, VECTORS_OF(E)) O[i][w] = 0;
            most[i] = -INFINITY;
            sum[i] = 0;
        }
        for (int k0 = 0; k0 < end; k0 += COLS) {
            REAL S[R][C], m[R];
            barrier(CLK_LOCAL_MEM_FENCE);
            stage(ks, k + k0 * k_row, COLS, D, k_row, s - k0, 1, ALIGNED(K, k));
            stage(vs, v + k0 * v_row, COLS, E, v_row, s - k0, 1, ALIGNED(V, v));
            barrier(CLK_LOCAL_MEM_FENCE);
            scores(S, qs, ks, D, tx, ty);
            if (biased || k0 + COLS > s || (causal && k0 + COLS > q0))
                EACH(i, R) EACH(j, C) S[i][j] = admitted(S[i][j], bias, biased, causal, l, s, q0 + ty + TY * i, k0 + tx + TX * j);
            EACH(i, R) {
                m[i] = most[i];
                EACH(j, C) m[i] = S[i][j] > m[i] ? S[i][j] : m[i];
            }
            JOIN(m, y > x ? y : x)
            EACH(i, R) {
                const REAL from = m[i] == -INFINITY ? 0 : m[i], factor = exp(most[i] - from);
                most[i] = m[i];
                sum[i] *= factor;
                EACH(j, C) {
                    S[i][j] = exp(S[i][j] - from);
                    sum[i] += S[i][j];
                }
                EACH(w, VECTORS_OF(E)) O[i][w] *= factor;
            }
            PUT(S)
            add_E(O, p, vs, tx, ty);
        }
        JOIN(sum, x + y)
        EACH(i, R) {
            const int at = q0 + ty + TY * i;
            if (tx == 0 && at < l) LSE[LSE_off + b * l + at] = most[i] + log(sum[i]);
            sum[i] = sum[i] == 0 ? 0 : 1 / sum[i];
        }
        write_E(Y + Y_off + HEAD_OFFSET(y) + q0 * y_row, O, sum, y_row, l - q0, ALIGNED(Y, y), tx, ty);
    }
}
#endif

#if !defined(PART) || PART == 1
// DQ = scale·(P·(G·Vᵀ − DELTA))·K, with the probabilities P, and DELTA [batch, l] = Σ_e G·Y.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_attention_grad_q(IN_OF(X_MEMORY, Q), IN_OF(X_MEMORY, K), IN_OF(X_MEMORY, V), IN_OF(X_MEMORY, BIAS), IN(Y), IN(LSE),
                        IN_OF(X_MEMORY, G), OUT_OF(Y_MEMORY, DQ), OUT(DELTA), int l, int s, int bias_step,
                        int biased, int causal, REAL scale, int heads,
                        int q_outer, int q_head, int q_row, int k_outer, int k_head, int k_row, int v_outer, int v_head, int v_row,
                        int y_outer, int y_head, int y_row, int g_outer, int g_head, int g_row) {
    local REAL4 qs[ROWS * PITCH(D)], gs[ROWS * PITCH(E)], ks[COLS * PITCH(D)], vs[COLS * PITCH(E)], ps[ROWS * PITCH_P];
    BEGIN(l)
    for (int turn = 0; turn < turns; turn++) {
        const int q0 = (turn ? group : last - group) * ROWS, end = causal ? min(s, q0 + ROWS) : s;
        global const REAL *y = Y + Y_off + HEAD_OFFSET(y) + q0 * y_row;
        barrier(CLK_LOCAL_MEM_FENCE);
        stage(qs, q + q0 * q_row, ROWS, D, q_row, l - q0, scale, ALIGNED(Q, q));
        stage(gs, G + G_off + HEAD_OFFSET(g) + q0 * g_row, ROWS, E, g_row, l - q0, 1, ALIGNED(G, g));
        barrier(CLK_LOCAL_MEM_FENCE);
        REAL4 O[R][VECTORS_OF(D)];
        REAL delta[R], lse[R], by[R];
        EACH(i, R) {
            const int r = ty + TY * i, live = q0 + r < l;
            REAL4 d = 0;
            EACH(w, VECTORS_OF(E)) {
                const int c = tx + TX * w;
                d = fma(gs[r * PITCH(E) + c], load4_real(y + r * y_row + 4 * c, live ? E - 4 * c : 0, ALIGNED(Y, y)), d);
            }
            delta[i] = (d.s0 + d.s1) + (d.s2 + d.s3);
            lse[i] = live ? LSE[LSE_off + b * l + q0 + r] : -INFINITY;
            by[i] = scale;
            EACH(w, VECTORS_OF(D)) O[i][w] = 0;
        }
        JOIN(delta, x + y)
        EACH(i, R) {
            const int at = q0 + ty + TY * i;
            if (tx == 0 && at < l) DELTA[DELTA_off + b * l + at] = delta[i];
        }
        for (int k0 = 0; k0 < end; k0 += COLS) {
            REAL S[R][C], U[R][C];
            barrier(CLK_LOCAL_MEM_FENCE);
            stage(ks, k + k0 * k_row, COLS, D, k_row, s - k0, 1, ALIGNED(K, k));
            stage(vs, v + k0 * v_row, COLS, E, v_row, s - k0, 1, ALIGNED(V, v));
            barrier(CLK_LOCAL_MEM_FENCE);
            scores(S, qs, ks, D, tx, ty);
            if (biased || k0 + COLS > s || (causal && k0 + COLS > q0))
                EACH(i, R) EACH(j, C) S[i][j] = admitted(S[i][j], bias, biased, causal, l, s, q0 + ty + TY * i, k0 + tx + TX * j);
            scores(U, gs, vs, E, tx, ty);
            EACH(i, R) EACH(j, C) S[i][j] = probability(S[i][j], lse[i]) * (U[i][j] - delta[i]);
            PUT(S)
            add_D(O, p, ks, tx, ty);
        }
        write_D(DQ + DQ_off + (b * l + q0) * D, O, by, D, l - q0, (DQ_off | D) % 4 == 0, tx, ty);
    }
}
#endif

#if !defined(PART) || PART == 2
// DK = scale·(P·(G·Vᵀ − DELTA))ᵀ·Q and DV = Pᵀ·G, with keys in the rows.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_attention_grad_kv(IN_OF(X_MEMORY, Q), IN_OF(X_MEMORY, K), IN_OF(X_MEMORY, V), IN_OF(X_MEMORY, BIAS), IN(LSE), IN(DELTA),
                         IN_OF(X_MEMORY, G), OUT_OF(Y_MEMORY, DK), OUT_OF(Y_MEMORY, DV), int l, int s, int bias_step,
                         int biased, int causal, REAL scale, int heads,
                         int q_outer, int q_head, int q_row, int k_outer, int k_head, int k_row, int v_outer, int v_head, int v_row,
                         int g_outer, int g_head, int g_row) {
    local REAL4 ks[ROWS * PITCH(D)], vs[ROWS * PITCH(E)], qs[COLS * PITCH(D)], gs[COLS * PITCH(E)], ps[ROWS * PITCH_P];
    local REAL lses[COLS], deltas[COLS];
    BEGIN(s)
    global const X_MEMORY *g = G + G_off + HEAD_OFFSET(g);
    for (int turn = 0; turn < turns; turn++) {
        const int k0 = (turn ? last - group : group) * ROWS;
        barrier(CLK_LOCAL_MEM_FENCE);
        stage(ks, k + k0 * k_row, ROWS, D, k_row, s - k0, scale, ALIGNED(K, k));
        stage(vs, v + k0 * v_row, ROWS, E, v_row, s - k0, 1, ALIGNED(V, v));
        REAL4 O[R][VECTORS_OF(D)], W[R][VECTORS_OF(E)];
        REAL one[R], by[R];
        EACH(i, R) {
            EACH(w, VECTORS_OF(D)) O[i][w] = 0;
            EACH(w, VECTORS_OF(E)) W[i][w] = 0;
            one[i] = 1;
            by[i] = scale;
        }
        for (int q0 = causal ? k0 / COLS * COLS : 0; q0 < l; q0 += COLS) {
            REAL S[R][C], U[R][C];
            barrier(CLK_LOCAL_MEM_FENCE);
            stage(qs, q + q0 * q_row, COLS, D, q_row, l - q0, 1, ALIGNED(Q, q));
            stage(gs, g + q0 * g_row, COLS, E, g_row, l - q0, 1, ALIGNED(G, g));
            for (int j = get_local_id(0); j < COLS; j += ITEMS) {
                const int at = b * l + min(q0 + j, l - 1);
                lses[j] = LSE[LSE_off + at];
                deltas[j] = DELTA[DELTA_off + at];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            scores(S, ks, qs, D, tx, ty);
            if (biased || q0 + COLS > l || k0 + ROWS > s || (causal && k0 + ROWS > q0))
                EACH(i, R) EACH(j, C) S[i][j] = admitted(S[i][j], bias, biased, causal, l, s, q0 + tx + TX * j, k0 + ty + TY * i);
            scores(U, vs, gs, E, tx, ty);
            EACH(j, C) {
                const REAL lse = lses[tx + TX * j], delta = deltas[tx + TX * j];
                EACH(i, R) {
                    S[i][j] = probability(S[i][j], lse);
                    U[i][j] = S[i][j] * (U[i][j] - delta);
                }
            }
            PUT(S)
            add_E(W, p, gs, tx, ty);
            ROWS_BARRIER;
            PUT(U)
            add_D(O, p, qs, tx, ty);
        }
        write_D(DK + DK_off + (b * s + k0) * D, O, by, D, s - k0, (DK_off | D) % 4 == 0, tx, ty);
        write_E(DV + DV_off + (b * s + k0) * E, W, one, E, s - k0, (DV_off | E) % 4 == 0, tx, ty);
    }
}
#endif
