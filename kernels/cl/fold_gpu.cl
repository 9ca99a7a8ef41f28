// @depends: fold
// Folds for devices that run a work-group in lockstep. A work-group is wide columns by tall slices of a line by as many
// lines as that leaves: a work-item folds every tall-th element of its column, then a tree in local memory folds the
// slices. The order is fixed. wide and tall are powers of two.

#ifndef FOLD_GROUP
#define FOLD_GROUP 256
#endif

static INLINE void fold(global const ELEM *X, global RESULT *Y, int outer, int len, int inner, int chunk, int shares, int wide, int tall,
                 int root, REAL p, int group, local ACC *A, local ACC *B) {
    const int lid = get_local_id(0), lines = FOLD_GROUP / (wide * tall), columns = (inner + wide - 1) / wide;
    const int t = lid / wide % tall, i = group % columns * wide + lid % wide;
    const int row = group / columns * lines + lid / (wide * tall), begin = row % shares * chunk;
    const int n = min(len - begin, chunk);
    FOLD_LEVELS(, a, b)
    ACC a = START_A, b = START_B;
    if (i < inner && row < outer * shares) {
        global const ELEM *x = X + (row / shares * len + begin) * inner + i;
        int terms = 0;
        for (int k = t; k < n; k += tall) {
            STEP(, a, b, x[k * inner]);
            terms++;
            FOLD_PAIRWISE(, a, b, terms)
        }
        FOLD_END(, a, b, terms)
    }
    A[lid] = a;
    B[lid] = b;
    for (int span = tall / 2; span > 0; span /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < span) {
            MERGE(, a, b, A[lid + span * wide], B[lid + span * wide]);
            A[lid] = a;
            B[lid] = b;
        }
    }
    if (t == 0 && i < inner && row < outer * shares) Y[row * inner + i] = (RESULT)FINISH(, a, b);
}

#if defined(OF_INTS) || FOLD == FOLD_COUNT
// As k_fold, to ints.
#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(FOLD_GROUP, 1, 1)))
void k_fold_int(IN(X), OUT_INTS(Y), int outer, int len, int inner, int chunk, int shares, int wide, int tall, int root, REAL p) {
    local ACC A[FOLD_GROUP], B[FOLD_GROUP];
    fold(X + X_off, Y + Y_off, outer, len, inner, chunk, shares, wide, tall, root, p, get_group_id(0), A, B);
}
#endif
#else
// k_fold by one of its work-groups, where inner and shares are 1.
static INLINE void fold_row(IN(X), OUT(Y), int outer, int len, int inner, int chunk, int shares, int wide, int tall, int root, REAL p, int group,
                     local REAL *t) {
    fold(X + X_off, Y + Y_off, outer, len, inner, chunk, shares, wide, tall, root, p, group, t, t + FOLD_GROUP);
}

// Y[(o*shares + s)*inner + i] is the fold of X[(o*len + k)*inner + i] over k of share s: [s*chunk, min(len, (s+1)*chunk)).
#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(FOLD_GROUP, 1, 1)))
void k_fold(IN(X), OUT(Y), int outer, int len, int inner, int chunk, int shares, int wide, int tall, int root, REAL p) {
    local ACC A[FOLD_GROUP], B[FOLD_GROUP];
    fold(X + X_off, Y + Y_off, outer, len, inner, chunk, shares, wide, tall, root, p, get_group_id(0), A, B);
}
#endif
#endif
