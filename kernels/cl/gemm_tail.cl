// @depends: common, epilogue
// What the matrix products of GPUs share at both ends: which tile a work-group computes, how it reads what lies in rows of
// memory, and what becomes of its sums.
//
// f is any element-wise function, which internal/ops/epilogue.go writes into a text before this one; there is none by
// itself. `then` says what becomes of it: KEEP, its operand goes to Z, which lies as C does; SUMS, there is no f. A batch of
// products is what internal/ops/gemmbatch.go makes of a kernel, by a text before it.

#define KEEP 1
#define SUMS 2
#ifdef EPILOGUE // f of a vector v; the second argument serves the CPU variant
#define FINISH(v, at, count)                                                    \
    if (then == KEEP) put4(v, Z + Z_off + (at), count, (Z_off | ldc) % 4 == 0); \
    if (then != SUMS) v = EPILOGUE(v, );
#else
#define EPILOGUE_PARAMS // of the entry points
#define FINISH(v, at, count)
#endif
#ifndef BATCH_PARAMS // of the entry points
#define BATCH_PARAMS
#endif
#ifndef OWN_PARAMS // of the entry points
#define OWN_PARAMS IN(A), IN(B), IN(BIAS), OUT(C), int m, int n, int K, int lda, int ldb, int ldc, int accumulate, int biased, int rows, int slice
#endif
#ifndef GROUP_PROLOGUE // which tile of which part a work-group computes
#define GROUP_PROLOGUE const int column = get_group_id(0), row = get_group_id(1), z = get_group_id(2), part = z, a_at = A_off, b_at = B_off;
#endif

// Up to four neighbours from p on, zeros past count. Aligned, four are one load; vload4 promises no more
// than the alignment of an element and is four.
static REAL4 load4(global const REAL *p, int count, int aligned) {
    if (count >= 4) return aligned ? *(global const REAL4 *)p : vload4(0, p);
    REAL4 v = 0;
    if (count > 0) v.s0 = p[0];
    if (count > 1) v.s1 = p[1];
    if (count > 2) v.s2 = p[2];
    return v;
}

#ifdef EPILOGUE
static void put4(REAL4 v, global REAL *p, int count, int aligned) {
    if (count >= 4 && aligned) *(global REAL4 *)p = v;
    else {
        p[0] = v.s0;
        if (count > 1) p[1] = v.s1;
        if (count > 2) p[2] = v.s2;
        if (count > 3) p[3] = v.s3;
    }
}
#endif

// Stores up to four elements of a row of C.
#define PUT_ROW_4(p, at, v, count, aligned)  \
    if (count >= 4 && aligned) {             \
        PUT4(p, at, v);                      \
    } else {                                 \
        PUT(p, at, v.s0);                    \
        if (count > 1) PUT(p, at + 1, v.s1); \
        if (count > 2) PUT(p, at + 2, v.s2); \
        if (count > 3) PUT(p, at + 3, v.s3); \
    }

// Ends row x of C from column y on with up to four elements, of which v are the sums and `add` the bias.
#define END_ROW_4(x, y, v, add)                                      \
    if ((x) < m && (y) < n) {                                        \
        const int at = (z * m + (x)) * ldc + (y);                    \
        if (accumulate) v += load4(C + C_off + at, n - (y), even_c); \
        v += add;                                                    \
        FINISH(v, at, n - (y))                                       \
        PUT_ROW_4(C + C_off, at, v, n - (y), even_c)                 \
    }

// The same of four that are there, at a multiple of four elements, without asking.
#define END_FOUR(at, v, add)                                            \
    {                                                                   \
        if (accumulate) v += *(global const REAL4 *)(C + C_off + (at)); \
        v += add;                                                       \
        FINISH(v, at, 4)                                                \
        PUT4(C + C_off, at, v);                                         \
    }
