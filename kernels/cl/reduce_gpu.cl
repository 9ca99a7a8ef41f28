// @depends: common, epilogue, pairwise, memory
// Sums for devices that run a work-group in lockstep: a strided sum per work-item, pairwise where it is long, then a tree over
// the work-group in local memory. The tree is fixed, so the same input gives the same bits.

#ifndef SUM_GROUP
#define SUM_GROUP 256 // work-items in a group, a power of two
#endif

// The sum of t[0], t[stride], …: halves the active items until one is left. lid is the caller's slot.
#define HALVES(t, lid, first, stride)                                      \
    for (int span = (first); span >= (stride); span >>= 1) {               \
        barrier(CLK_LOCAL_MEM_FENCE);                                      \
        if ((lid) < span) (t)[lid] += (t)[(lid) + span];                   \
    }

// Σ x[k*apart] over k = first, first + stride, … below n.
static INLINE REAL strided_sum(global const X_MEMORY *x, int first, int n, int stride, int apart) {
    REAL s = 0, levels[PAIR_LEVELS];
    int k = first, eights = 0;
    for (; k + 7 * stride < n; k += 8 * stride) { // eight are on their way together
        REAL v[8];
        _Pragma("unroll") for (int j = 0; j < 8; j++) v[j] = X_FROM(x[(k + j * stride) * apart]);
        s += ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
        eights++;
        PAIRWISE(s, levels, eights)
    }
    for (; k < n; k += stride) s += X_FROM(x[k * apart]);
    PAIRWISE_END(s, levels, eights)
    return s;
}

// P[g] = scale·Σ X[i] over chunk g: i in [g*chunk, min(n, (g+1)*chunk)).
static INLINE void sum(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, P), int n, int chunk, REAL scale, int g, local REAL *t) {
    const int lid = get_local_id(0);
    t[lid] = strided_sum(X + X_off + g * chunk, lid, min(n - g * chunk, chunk), SUM_GROUP, 1);
    HALVES(t, lid, SUM_GROUP / 2, 1)
    if (lid == 0 && (g == 0 || g * chunk < n)) P[P_off + g] = Y_TO(scale * t[0]); // a chain may have groups past the last
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(SUM_GROUP, 1, 1)))
void k_sum(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, P), int n, int chunk, REAL scale) {
    local REAL t[SUM_GROUP];
    sum(X, X_off, P, P_off, n, chunk, scale, get_group_id(0), t);
}
#endif

// t[c] = Σ_k x[k*inner] for the column c < lx of each work-item: a work-group has lx columns by SUM_GROUP/lx slices of k.
static INLINE void slice_sums(global const X_MEMORY *x, int len, int inner, int lx, int lid, local REAL *t) {
    const int tall = SUM_GROUP / lx;
    t[lid] = strided_sum(x, lid / lx, len, tall, inner);
    HALVES(t, lid, SUM_GROUP / 2, lx)
}

// Y[o*inner + i] = scale·Σ_k X[(o*len + k)*inner + i], added to Y if accumulate is not 0.
// Work-groups are lx columns by ly slices of k, lx·ly = SUM_GROUP.
static INLINE void sum_axis_at(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, REAL scale, int accumulate PUT_PARAMS,
                               int lx, int column, int o, int lid, local REAL *t) {
    const int tx = lid % lx, i = column * lx + tx;
    slice_sums(X + X_off + o * len * inner + i, i < inner ? len : 0, inner, lx, lid, t);
    if (lid < lx && i < inner) {
        const int at = o * inner + i;
        PUT(Y + Y_off, at, accumulate ? Y_FROM(Y[Y_off + at]) + scale * t[tx] : scale * t[tx]);
    }
}

#define SUM_AXIS_PROLOGUE const int lx = get_local_size(0), column = get_group_id(0), o = get_group_id(1), lid = get_local_id(1) * lx + get_local_id(0);

static INLINE void sum_axis(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, REAL scale, int accumulate PUT_PARAMS, local REAL *t) {
    SUM_AXIS_PROLOGUE
    if (o < outer) sum_axis_at(X, X_off, Y, Y_off, outer, len, inner, scale, accumulate PUT_ARGS, lx, column, o, lid, t);
}

#ifndef OWN_PARAMS // of the entry point
#define OWN_PARAMS IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, REAL scale, int accumulate
#endif
#ifndef GROUP_PROLOGUE // which columns of which o a work-group sums, and which of its work-items this is
#define GROUP_PROLOGUE SUM_AXIS_PROLOGUE
#endif
#ifndef FUNCTIONS
kernel void k_sum_axis(OWN_PARAMS PUT_PARAMS) {
    local REAL t[SUM_GROUP];
    GROUP_PROLOGUE
    sum_axis_at(X, X_off, Y, Y_off, outer, len, inner, scale, accumulate PUT_ARGS, lx, column, o, lid, t);
}
#endif

// sum_axis of one o where inner is 1, by a work-group of any shape: the bits of k_sum_axis, whose groups are one column wide there.
static INLINE void sum_row(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, REAL scale, int accumulate, int o, local REAL *t) {
    const int lid = get_local_id(0);
    t[lid] = o < outer ? strided_sum(X + X_off + o * len, lid, len, SUM_GROUP, 1) : 0;
    HALVES(t, lid, SUM_GROUP / 2, 1)
    if (lid == 0 && o < outer) Y[Y_off + o] = Y_TO(accumulate ? Y_FROM(Y[Y_off + o]) + scale * t[0] : scale * t[0]);
}
