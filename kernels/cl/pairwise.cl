// Sums in blocks: PAIR_TERMS terms are added one after the other, and the sums of blocks in pairs, as the bits of a counter carry. So the
// rounding of a sum of n terms is at most that of PAIR_TERMS + log2(n / PAIR_TERMS) additions to each term, not that of n.
//
// A loop that adds its n-th term to s, counting from 1, then does PAIRWISE(s, levels, n), and PAIRWISE_END(s, levels, n) makes s the
// sum of n terms. levels is an array of PAIR_LEVELS of the type of s: element l is the sum of PAIR_TERMS·2^l terms if bit l of n / PAIR_TERMS is set.

#define PAIR_TERMS 64
#define PAIR_LEVELS 26 // of 2^31 terms

// The same of anything that is joined: JOIN(older, newer), and `none` for the sum of no terms.
#define PAIRWISE_BY(s, levels, n, JOIN, none)                                                 \
    if ((n) % PAIR_TERMS == 0) {                                                                   \
        int level_ = 0;                                                                       \
        for (uint b_ = (n) / PAIR_TERMS - 1; b_ & 1; b_ >>= 1, level_++) s = JOIN(levels[level_], s); \
        levels[level_] = s;                                                                   \
        s = none;                                                                             \
    }
#define PAIRWISE_END_BY(s, levels, n, JOIN)                                        \
    {                                                                              \
        int level_ = 0;                                                            \
        for (uint b_ = (n) / PAIR_TERMS; b_ > 0; b_ >>= 1, level_++)                    \
            if (b_ & 1) s = JOIN(levels[level_], s);                               \
    }

#define ADDED(a, b) ((a) + (b))
#define PAIRWISE(s, levels, n) PAIRWISE_BY(s, levels, n, ADDED, 0)
#define PAIRWISE_END(s, levels, n) PAIRWISE_END_BY(s, levels, n, ADDED)
