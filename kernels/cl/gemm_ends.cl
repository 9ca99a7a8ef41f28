// @depends: common, put
// How products on the matrix units of GPUs read what lies in rows of memory, and what becomes of their sums: the epilogue and
// the batch are those of gemm_gpu.cl.

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
#ifndef OWN_PARAMS // of the entry point
#define OWN_PARAMS IN(A), IN(B), IN(BIAS), OUT(C), int m, int n, int K, int lda, int ldb, int ldc, int accumulate, int biased, int rows, int slice
#endif
#ifndef PLACE // which tile of which part a work-group computes
#define PLACE const int column = get_group_id(0), row = get_group_id(1), z = get_group_id(2), part = z, a_at = A_off, b_at = B_off;
#endif

// Up to four neighbours from p on, zeros past count.
static float4 load4(global const float *p, int count, int aligned) {
    if (count >= 4) return aligned ? *(global const float4 *)p : vload4(0, p);
    float4 v = 0;
    if (count > 0) v.s0 = p[0];
    if (count > 1) v.s1 = p[1];
    if (count > 2) v.s2 = p[2];
    return v;
}

#ifdef EPILOGUE
static void put4(float4 v, global float *p, int count, int aligned) {
    if (count >= 4 && aligned) *(global float4 *)p = v;
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
