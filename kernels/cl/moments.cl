// @depends: common, pairwise
// What moments_cpu.cl and moments_gpu.cl join: a mean M and squared deviations V from it, of blocks in pairs as pairwise.cl does. Means
// are beside the first element of the line, so that a mean that is large beside the deviations rounds none of them.
// Source: Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979.

// Joins (M, V) and (N, W), of c elements each.
#define JOIN(M, V, N, W, c)                             \
    do {                                                \
        V += W + (N - M) * (N - M) * ((c) * (REAL)0.5); \
        M += (N - M) * (REAL)0.5;                       \
    } while (0)

// Joins (M, V), of c elements, and (N, W), of more.
#define JOIN_MORE(M, V, c, N, W, more)                    \
    do {                                                  \
        const REAL part_ = (REAL)(more) / ((c) + (more)); \
        V += W + (N - M) * (N - M) * ((c)*part_);         \
        M += (N - M) * part_;                             \
    } while (0)

// After step n of a lane, of `each` elements, and after the last of n: PAIRWISE of (M, V), by M_levels and V_levels.
#define MOMENTS_PAIRWISE(M, V, n, each)                                                            \
    if ((n) % PAIR_TERMS == 0) {                                                                   \
        int level_ = 0;                                                                            \
        REAL count_ = PAIR_TERMS * (each);                                                         \
        for (uint b_ = (n) / PAIR_TERMS - 1; b_ & 1; b_ >>= 1, level_++, count_ *= 2)              \
            JOIN(M, V, M##_levels[level_], V##_levels[level_], count_);                            \
        M##_levels[level_] = M;                                                                    \
        V##_levels[level_] = V;                                                                    \
        M = V = 0;                                                                                 \
    }
#define MOMENTS_END(M, V, n, each)                                                                 \
    {                                                                                              \
        int level_ = 0;                                                                            \
        REAL count_ = PAIR_TERMS * (each), here_ = (n) % PAIR_TERMS * (each);                      \
        for (uint b_ = (n) / PAIR_TERMS; b_ > 0; b_ >>= 1, level_++, count_ *= 2)                  \
            if (b_ & 1) {                                                                          \
                JOIN_MORE(M, V, here_, M##_levels[level_], V##_levels[level_], count_);            \
                here_ += count_;                                                                   \
            }                                                                                      \
    }
