// @depends: common, memory, dots, epilogue
// Matrix products for CPUs: C = f(op(A)·op(B) + C·accumulate + bias).
//
//   nn  A: [i*lda + k]  B: [k*ldb + j]
//   nt  A: [i*lda + k]  B: [j*ldb + k]
//   tn  A: [k*lda + i]  B: [k*ldb + j]
//   tt  A: [k*lda + i]  B: [j*ldb + k]
//   C: [i*ldc + j], BIAS: [j], i in 0:m, j in 0:n, k in 0:K
//
// f is any element-wise function, which internal/ops/epilogue.go writes into a text before this one; there is none by
// itself. `then` says what becomes of it: KEEP, its operand goes to Z, which lies as C does; SUMS, there is no f. Such a text names the one FORM to build: 0 to 3, in that order.
//
// With slice < K, C is a share for each slice of the sum, as in gemm_gpu.cl. A batch of products is what internal/ops/gemmbatch.go
// makes of this, by a text before it.
//
// One work-item per work-group and no local memory: a work-item owns a block of C of `rows` rows and
// some panels of PANEL columns, of which each work-group has as many. For each slice of KC steps of k it packs a panel of B,
// zero-padded, into private memory, and then runs a micro-kernel that keeps MR rows of C in vector registers while it streams
// through the slice (the scheme of Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008). A is read in place if its steps of k are neighbours, else packed before, MR rows
// beside each other, for all panels of the work-item. Of few rows, and of B whose steps of k are neighbours, nothing is packed:
// sums are of lanes along k. Else sums run over k in ascending order: the same input gives the same bits.
//
// Operands and results of 16 bits (X_HALF and Y_HALF of memory.cl, but for A_FLOAT, B_FLOAT and BIAS_FLOAT) are widened as
// they are packed, A in any case, and rounded as they are stored: longer sums than KC are added up in private memory.
//
// WIDE is the number of 16-wide vectors in a panel. The defaults fill the 32 registers of AVX-512 with
// 6·4 accumulators; the narrow micro-kernel serves the last n%PANEL <= 16 columns.

#ifndef WIDE
#define WIDE 4
#endif
#ifndef MR
#define MR 6 // a divisor of CHUNK, at most 16
#endif
#define NARROW_MR 12
#define FEW 8 // rows of C that are not worth packing B, whose steps of k are neighbours
#ifndef EPILOGUE // f of a vector, where an epilogue or a pointer to one is named with . or ->
#define EPILOGUE_PARAMS // of the entry points
#define EPILOGUE_FIELDS // of an epilogue
#define EPILOGUE_VALUES // theirs, of the parameters
#endif
#ifndef BATCH_PARAMS // of the entry points
#define BATCH_PARAMS
#define PRODUCTS(gemm)                                                \
    {                                                                 \
        const int z = get_group_id(2), part = z, a_at = 0, b_at = 0;  \
        gemm;                                                         \
    }
#endif
#ifdef PUT_ROW // C begins there
#define PUT_INTO global Y_MEMORY *into;
#define PUT_FROM , C + C_off
#else
#define PUT_INTO
#define PUT_FROM
#endif
#define KEEP 1
#define SUMS 2
#define KC 256
#define CHUNK 264
#define HIGH (MR * KC + 16) // elements of MR packed rows: packing writes 8 or 16 at a time, of which the first MR stay
#define PANEL (16 * WIDE)
#define TILE (MR * PANEL > 16 * NARROW_MR ? MR * PANEL : 16 * NARROW_MR)
#define ALIGNED __attribute__((aligned(64)))
#define LINE(T) (64 / (int)sizeof(T)) // of the cache

#if defined(X_HALF) && !defined(A_FLOAT)
#define A_HALF
#define A_MEMORY ushort
#define A_SPACE private // of rows whose steps of k are neighbours
#define A_FROM(x) X_FROM(x)
#define A_FROM8(x) X_FROM8(x)
#define A_FROM16(x) X_FROM16(x)
#else
#define A_MEMORY REAL
#define A_SPACE global
#define A_FROM(x) (x)
#define A_FROM8(x) (x)
#define A_FROM16(x) (x)
#endif
#if defined(X_HALF) && !defined(B_FLOAT)
#define B_MEMORY ushort
#define B_FROM(x) X_FROM(x)
#define B_FROM4(x) X_FROM4(x)
#define B_FROM16(x) X_FROM16(x)
#define B_LOAD16(p) X_LOAD16(p)
#else
#define B_MEMORY REAL
#define B_FROM(x) (x)
#define B_FROM4(x) (x)
#define B_FROM16(x) (x)
#define B_LOAD16(p) IN_MEMORY(global const, REAL16, p)
#endif
#if defined(X_HALF) && !defined(BIAS_FLOAT)
#define BIAS_MEMORY ushort
#define BIAS_FROM(x) X_FROM(x)
#else
#define BIAS_MEMORY REAL
#define BIAS_FROM(x) (x)
#endif
#ifdef Y_HALF
#define HELD 4 // panels whose sums are in private memory at once
#else
#define HELD panels
#endif

// Vectors that lie anywhere: LLVM makes one instruction of such a load, where it splits vload16 in four.
typedef REAL8 any8 __attribute__((aligned(sizeof(REAL))));
typedef REAL16 any16 __attribute__((aligned(sizeof(REAL))));
#ifdef X_HALF
typedef ushort8 halves8 __attribute__((aligned(2)));
typedef ushort16 halves16 __attribute__((aligned(2)));
#endif
#ifdef A_HALF
#define A_ANY8 halves8
#define A_ANY16 halves16
#else
#define A_ANY8 any8
#define A_ANY16 any16
#endif
#if defined(X_HALF) && !defined(B_FLOAT)
#define B_ANY16 halves16
#else
#define B_ANY16 any16
#endif
#if MR > 8
#define any_rows any16
#define A_ROWS(p) A_FROM16(*(global const A_ANY16 *)(p))
#else
#define any_rows any8
#define A_ROWS(p) A_FROM8(*(global const A_ANY8 *)(p))
#endif

// op(A) or op(B): element (x, k) is at[x*row + k*step].
typedef struct {
    global const A_MEMORY *at;
    int row, step;
} operand_a;

typedef struct {
    global const B_MEMORY *at;
    int row, step;
} operand_b;

// What happens to C after a slice of KC steps: `add` to it, or set it; after the `last`, bias and f.
typedef struct {
    int add, last;
    const REAL *bias; // of the panel
    EPILOGUE_FIELDS
    PUT_INTO
    PUT_FIELDS
#ifdef Y_HALF
    REAL *sums; // of this part of C, PANEL apart
    int held;   // they are those of the slices before
#endif
} epilogue;

// PoCL compiles a product in half the time where its functions are not inlined. They are called once
// for a tile or a panel.
#define FUNCTION static NOINLINE

// P[k*padded + x] = element (x, k) for x < width, zero from there to padded, for k < kc.
FUNCTION void pack(REAL *P, operand_b s, int kc, int width, int padded) {
    int x = 0;
    if (s.row == 1 && width >= 16) { // neighbours along x: whole vectors, the last over the one before
        for (int k = 0; k < kc; k++) {
            for (x = 0; x < width; x += 16) {
                const int at = min(x, width - 16);
                *(any16 *)(P + k * padded + at) = B_FROM16(*(global const B_ANY16 *)(s.at + at + k * s.step));
            }
        }
        x = width;
    } else if (s.step == 1) { // neighbours along k: transpose squares of 4, two beside each other
        for (; x + 8 <= width; x += 8) {
            global const B_MEMORY *r0 = s.at + x * s.row, *r1 = r0 + s.row, *r2 = r1 + s.row, *r3 = r2 + s.row;
            const int four = 4 * s.row;
            int k = 0;
            for (; k + 4 <= kc; k += 4) {
                const REAL8 a = (REAL8)(B_FROM4(vload4(0, r0 + k)), B_FROM4(vload4(0, r0 + four + k))), b = (REAL8)(B_FROM4(vload4(0, r1 + k)), B_FROM4(vload4(0, r1 + four + k)));
                const REAL8 c = (REAL8)(B_FROM4(vload4(0, r2 + k)), B_FROM4(vload4(0, r2 + four + k))), d = (REAL8)(B_FROM4(vload4(0, r3 + k)), B_FROM4(vload4(0, r3 + four + k)));
                REAL *p = P + k * padded + x;
                vstore8((REAL8)(a.s0, b.s0, c.s0, d.s0, a.s4, b.s4, c.s4, d.s4), 0, p);
                vstore8((REAL8)(a.s1, b.s1, c.s1, d.s1, a.s5, b.s5, c.s5, d.s5), 0, p + padded);
                vstore8((REAL8)(a.s2, b.s2, c.s2, d.s2, a.s6, b.s6, c.s6, d.s6), 0, p + 2 * padded);
                vstore8((REAL8)(a.s3, b.s3, c.s3, d.s3, a.s7, b.s7, c.s7, d.s7), 0, p + 3 * padded);
            }
            for (; k < kc; k++) {
                REAL *p = P + k * padded + x;
                vstore8((REAL8)(B_FROM(r0[k]), B_FROM(r1[k]), B_FROM(r2[k]), B_FROM(r3[k]), B_FROM(r0[four + k]), B_FROM(r1[four + k]),
                                B_FROM(r2[four + k]), B_FROM(r3[four + k])), 0, p);
            }
        }
    }
    for (int k = 0; k < kc; k++) {
        for (int y = x; y < width; y++) P[k * padded + y] = B_FROM(s.at[y * s.row + k * s.step]);
        for (int y = width; y < padded; y++) P[k * padded + y] = 0;
    }
}

// Packs rows of A that are neighbours in memory, MR beside each other: P[i/MR*HIGH + k*MR + i%MR] = element (i, k) for i < rows, zero
// up to the next multiple of MR. `there` is how many rows there are from the first one on.
FUNCTION void pack_rows(REAL *P, operand_a s, int kc, int rows, int there) {
    const int whole = max(0, min(rows, there - 15)); // tiles that begin before have 16 rows to read
    for (int k0 = 0; k0 < kc; k0 += 8) { // which are in the first cache then, for one tile after the other
        const int k1 = min(kc, k0 + 8);
        REAL *p = P;
        int i = 0;
        for (; i < whole; i += MR, p += HIGH) {
            for (int k = k0; k < k1; k++) *(any_rows *)(p + k * MR) = A_ROWS(s.at + k * s.step + i);
        }
        for (; i < rows; i += MR, p += HIGH) {
            for (int k = k0; k < k1; k++) {
                for (int r = 0; r < MR; r++) p[k * MR + r] = i + r < rows ? A_FROM(s.at[k * s.step + i + r]) : 0;
            }
        }
    }
}

#ifdef A_HALF
// Widens rows of A whose steps of k are neighbours: P[i*KC + k] = element (i, k) for i < rows.
FUNCTION void widen_rows(REAL *P, operand_a s, int kc, int rows) {
    for (int i = 0; i < rows; i++) {
        global const A_MEMORY *at = s.at + i * s.row;
        REAL *p = P + i * KC;
        int k = 0;
        for (; k + 16 <= kc; k += 16) *(any16 *)(p + k) = A_FROM16(*(global const A_ANY16 *)(at + k));
        for (; k < kc; k++) p[k] = A_FROM(at[k]);
    }
}
#endif

// One micro-kernel: tile[0:R, 0:16V] = sums of a[r*row + k*step], k in 0:kc, and the panel P. Rows past the last repeat it; their
// results are dropped.
#define MICRO(name, R, V, space, ROW)                                                                 \
    FUNCTION void name(space const REAL *a, int a_row, int step, int live, const REAL *P, int kc, REAL *tile) { \
        REAL16 acc[R][V];                                                                             \
        _Pragma("unroll") for (int r = 0; r < R; r++)                                                 \
            _Pragma("unroll") for (int v = 0; v < V; v++) acc[r][v] = 0;                              \
        int row[R];                                                                                   \
        _Pragma("unroll") for (int r = 0; r < R; r++) row[r] = ROW;                                  \
        for (int k = 0; k < kc; k++) {                                                                \
            space const REAL *ak = a + k * step;                                                      \
            REAL16 b[V];                                                                              \
            _Pragma("unroll") for (int v = 0; v < V; v++) b[v] = vload16(v, P + k * 16 * V);          \
            _Pragma("unroll") for (int r = 0; r < R; r++) {                                           \
                const REAL16 x = (REAL16)(ak[row[r]]);                                                \
                _Pragma("unroll") for (int v = 0; v < V; v++) acc[r][v] = fma(x, b[v], acc[r][v]);    \
            }                                                                                         \
        }                                                                                             \
        _Pragma("unroll") for (int r = 0; r < R; r++)                                                 \
            _Pragma("unroll") for (int v = 0; v < V; v++) vstore16(acc[r][v], r * V + v, tile);       \
    }

// Up to 16 elements of a row, zeros past count.
static REAL16 row16(global const Y_MEMORY *c, int count) {
    if (count >= 16) return Y_FROM16(vload16(0, c));
    REAL part[16];
    for (int j = 0; j < 16; j++) part[j] = j < count ? Y_FROM(c[j]) : 0;
    return vload16(0, part);
}

#define PUT16(name, T, TO, TO16)                             \
    static void name(REAL16 v, global T *c, int count) {     \
        if (count >= 16) {                                   \
            vstore16(TO16(v), 0, c);                         \
            return;                                          \
        }                                                    \
        REAL part[16];                                       \
        vstore16(v, 0, part);                                \
        for (int j = 0; j < count; j++) c[j] = TO(part[j]);  \
    }
#define AS_IT_IS(x) (x)

PUT16(put16, Y_MEMORY, Y_TO, Y_TO16)
#ifdef EPILOGUE
PUT16(keep16, REAL, AS_IT_IS, AS_IT_IS)
#endif

// Stores the first `live` rows of a tile of `across` columns, of which `width` are those of C. Called
// at each of its vectors, the others would leave their registers.
FUNCTION void store(const REAL *tile, int across, int live, global Y_MEMORY *C, int ldc, int width, const epilogue *e) {
    for (int r = 0; r < live; r++) {
        for (int j = 0; j < width; j += 16) {
            global Y_MEMORY *c = C + r * ldc + j;
            const int count = width - j;
            REAL16 v = vload16(0, tile + r * across + j);
#ifdef Y_HALF
            REAL *sums = e->sums + r * PANEL + j;
            if (e->add) v = (e->held ? vload16(0, sums) : row16(c, count)) + v;
            if (!e->last) {
                vstore16(v, 0, sums);
                continue;
            }
#else
            if (e->add) v = row16(c, count) + v;
#endif
            if (e->last) {
                v += vload16(0, e->bias + j);
#ifdef EPILOGUE
                if (e->then == KEEP) keep16(v, e->z + (c - e->c), count);
                if (e->then != SUMS) v = EPILOGUE(v, e->);
#endif
#ifdef PUT_ROW
                PUT_ROW(e->, v, (int)(c - e->into), min(count, 16));
#ifndef PUT_KEEP
                continue;
#endif
#endif
            }
            put16(v, c, count);
        }
    }
}

MICRO(wide_in_place, MR, WIDE, A_SPACE, min(r, live - 1) * a_row)
MICRO(wide_packed, MR, WIDE, private, r)
MICRO(narrow_in_place, NARROW_MR, 1, A_SPACE, min(r, live - 1) * a_row)
MICRO(narrow_packed, MR, 1, private, r)

DOTS(dots_4, 4, 4, B, A_SPACE)
DOTS(dots_1, 8, 1, B, A_SPACE)

// tile[r*across + j] = sums of rows of A and columns of B, r < live and j < width, whose steps of k are neighbours.
FUNCTION void dots(A_SPACE const REAL *a, int a_row, int live, global const B_MEMORY *b, int b_row, int width, int kc, REAL *tile, int across) {
    int r = 0;
    for (; r + 4 <= live; r += 4) {
        for (int j = 0; j < width; j += 4) dots_4(b + j * b_row, b_row, width - j, a + r * a_row, a_row, kc, tile + r * across + j, 1, across);
    }
    for (; r < live; r++) {
        for (int j = 0; j < width; j += 8) dots_1(b + j * b_row, b_row, width - j, a + r * a_row, a_row, kc, tile + r * across + j, 1, across);
    }
}

// Computes the rows and the panels of C of a work-item, for the part of the sum that begins at k = start. What is packed of A serves
// all of its panels, or HELD.
static void gemm(operand_a a, operand_b b, global const BIAS_MEMORY *bias, global Y_MEMORY *C, int m, int n, int K, int ldc,
                 int accumulate, int biased, int rows, int start, int slice, epilogue e) {
    REAL panel[KC * PANEL] ALIGNED, packed[CHUNK / MR * HIGH] ALIGNED, padded[PANEL] ALIGNED, tile[TILE] ALIGNED;
#ifdef Y_HALF
    REAL sums[HELD * CHUNK * PANEL] ALIGNED;
#endif
    const int panels = (n + PANEL - 1) / PANEL, groups = get_num_groups(0), group = get_group_id(0), end_panel = panels * (group + 1) / groups;
    const int i0 = get_group_id(1) * rows, i1 = min(m, i0 + rows);
    const int in_place = a.step == 1, end = min(K, start + slice), few = in_place && b.step == 1 && b.row != 1 && m <= FEW;
    e.bias = padded;
    for (int first = i0; first < i1; first += CHUNK) {
        const int past = min(i1, first + CHUNK);
        for (int q = panels * group / groups; q < end_panel; q += HELD) {
            for (int k0 = start; k0 < end; k0 += KC) {
                const int kc = min(end - k0, KC);
                e.add = accumulate || k0 > start;
                e.last = k0 + kc == end;
                const operand_a ak = {a.at + first * a.row + k0 * a.step, a.row, a.step};
                if (!in_place) pack_rows(packed, ak, kc, past - first, m - first);
#ifdef A_HALF
                else widen_rows(packed, ak, kc, past - first);
#endif
                for (int p = q; p < min(end_panel, q + HELD); p++) {
                    const int j0 = p * PANEL, width = min(n - j0, PANEL), narrow = width <= 16, across = narrow ? 16 : PANEL;
                    const operand_b bk = {b.at + j0 * b.row + k0 * b.step, b.row, b.step};
                    for (int j = 0; j < PANEL; j++) padded[j] = biased && j < width ? BIAS_FROM(bias[j0 + j]) : 0;
                    if (!few) pack(panel, bk, kc, width, across);
                    const int height = narrow && in_place ? NARROW_MR : MR;
                    const int next = b.row == 1 ? min(min(end_panel * PANEL, n) - j0 - PANEL, PANEL) : 0; // columns of B after these
                    for (int i = first; i < past; i += height) {
                        const int live = min(past - i, height);
#ifdef A_HALF
                        const REAL *at = packed + (i - first) * KC;
                        const int a_row = KC;
#else
                        global const REAL *at = ak.at + (i - first) * a.row;
                        const int a_row = a.row;
#endif
                        const REAL *rows = packed + (i - first) / MR * HIGH;
#ifdef Y_HALF
                        e.sums = sums + ((p - q) * CHUNK + i - first) * PANEL;
                        e.held = k0 > start;
#endif
                        // Asks for what comes next: this tile of C where it adds to that, and with the last tile all of the next panel of B.
                        for (int r = 0; e.add && r < live; r++) {
                            for (int j = 0; j < width; j += LINE(Y_MEMORY)) PREFETCH(C + (i + r) * ldc + j0 + j, 1);
                        }
                        const int high = past - first, from = kc * (i - first) / high, to = kc * (i + live - first) / high;
                        for (int k = from; k < to; k++) {
                            for (int j = 0; j < next; j += LINE(B_MEMORY)) PREFETCH_LATER(bk.at + PANEL + k * b.step + j);
                        }
                        if (few) dots(at, a_row, live, bk.at, b.row, width, kc, tile, across);
                        else if (narrow && in_place) narrow_in_place(at, a_row, 1, live, panel, kc, tile);
                        else if (narrow) narrow_packed(rows, 1, MR, live, panel, kc, tile);
                        else if (in_place) wide_in_place(at, a_row, 1, live, panel, kc, tile);
                        else wide_packed(rows, 1, MR, live, panel, kc, tile);
                        store(tile, across, live, C + i * ldc + j0, ldc, width, &e);
                    }
                }
            }
        }
    }
}

#define GEMM(form, a_row, a_step, b_row, b_step)                                                           \
    kernel __attribute__((reqd_work_group_size(1, 1, 1)))                                                  \
    void k_gemm_##form(IN_OF(A_MEMORY, A), IN_OF(B_MEMORY, B), IN_OF(BIAS_MEMORY, BIAS), OUT_OF(Y_MEMORY, C), int m, int n, int K, int lda, int ldb, int ldc,     \
                       int accumulate, int biased, int rows, int slice BATCH_PARAMS EPILOGUE_PARAMS PUT_PARAMS) { \
        const epilogue e = {0, 0, 0 EPILOGUE_VALUES PUT_FROM PUT_VALUES};                                  \
        PRODUCTS(gemm((operand_a){A + A_off + a_at, a_row, a_step}, (operand_b){B + B_off + b_at, b_row, b_step}, \
                      BIAS + BIAS_off, C + C_off + z * m * ldc, m, n, K, ldc, accumulate, biased, rows, part * slice, slice, e)) \
    }

#if !defined(FORM) || FORM == 0
GEMM(nn, lda, 1, 1, ldb)
#endif
#if !defined(FORM) || FORM == 1
GEMM(nt, lda, 1, ldb, 1)
#endif
#if !defined(FORM) || FORM == 2
GEMM(tn, 1, lda, 1, ldb)
#endif
#if !defined(FORM) || FORM == 3
GEMM(tt, 1, lda, ldb, 1)
#endif
