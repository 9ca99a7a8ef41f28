// @depends: common, pairwise
// What the folds of fold_cpu.cl and fold_gpu.cl fold with: FOLD says which. Macros take the width W of their vectors,
// 16, 8, 4, 2 or none, so that lanes and work-items are folded by the same text.
//
// ACC is the type of what is gathered: A, and B beside it where a fold needs two. STEP gathers an element, MERGE what
// other lanes gathered, FINISH makes the result of it. After the n-th STEP of a lane, FOLD_PAIRWISE gathers in pairs, by pairwise.cl,
// and FOLD_END after the last of n.

#define FOLD_PROD 0    // Π x
#define FOLD_ABS 1     // Σ |x|
#define FOLD_SQUARE 2  // Σ x², its root if asked for
#define FOLD_POW 3     // Σ |x|ᵖ, its root of that degree if asked for
#define FOLD_COUNT 4   // how many x are not 0
#define FOLD_MAX 5     // the greatest x; a NaN wins
#define FOLD_MIN 6     // the least x; a NaN wins
#define FOLD_MAX_ABS 7 // the greatest |x|
#define FOLD_MIN_ABS 8 // the least |x|
#define FOLD_LSE 9     // log Σ eˣ: A is the maximum so far, B the sum of e^(x − A)
#define FOLD_SUM 10    // Σ x

#ifndef FOLD
#define FOLD FOLD_PROD
#endif

// An integer as wide as an element, for counts in lanes beside elements.
#if FOLD == FOLD_COUNT && defined(REAL_IS_DOUBLE) && !defined(OF_INTS)
#define COUNTER long
#define COUNTER2 long2
#define COUNTER4 long4
#define COUNTER8 long8
#define COUNTER16 long16
#else
#define COUNTER int
#define COUNTER2 int2
#define COUNTER4 int4
#define COUNTER8 int8
#define COUNTER16 int16
#endif

#if defined(OF_INTS) || FOLD == FOLD_COUNT
#define ACC COUNTER
#define ACC2 COUNTER2
#define ACC4 COUNTER4
#define ACC8 COUNTER8
#define ACC16 COUNTER16
#define RESULT int
#define TO_RESULT16 convert_int16
#else
#define ACC REAL
#define ACC2 REAL2
#define ACC4 REAL4
#define ACC8 REAL8
#define ACC16 REAL16
#define RESULT REAL
#define TO_RESULT16
#endif

#define START_B 0
#define FINISH(W, A, B) (A)

#if FOLD == FOLD_PROD
#define START_A 1
#define STEP(W, A, B, x) A *= x
#define MERGE(W, A, B, C, D) A *= C
#elif FOLD == FOLD_SUM
#define START_A 0
#define STEP(W, A, B, x) A += x
#define MERGE(W, A, B, C, D) A += C
#elif FOLD == FOLD_ABS
#define START_A 0
#define STEP(W, A, B, x) A += fabs(x)
#define MERGE(W, A, B, C, D) A += C
#elif FOLD == FOLD_SQUARE
#define START_A 0
#define STEP(W, A, B, x) A = fma(x, x, A)
#define MERGE(W, A, B, C, D) A += C
#undef FINISH
#define FINISH(W, A, B) (root ? sqrt(A) : A)
#elif FOLD == FOLD_POW
// Vectors are computed one element after the other: PoCL 3.1's pow of vectors is wrong where others are 0.
static REAL power(REAL x, REAL p) { return pow(x, p); }
static REAL2 power2(REAL2 x, REAL p) { return (REAL2)(pow(x.lo, p), pow(x.hi, p)); }
static REAL4 power4(REAL4 x, REAL p) { return (REAL4)(power2(x.lo, p), power2(x.hi, p)); }
static REAL8 power8(REAL8 x, REAL p) { return (REAL8)(power4(x.lo, p), power4(x.hi, p)); }
static REAL16 power16(REAL16 x, REAL p) { return (REAL16)(power8(x.lo, p), power8(x.hi, p)); }
#define START_A 0
#define STEP(W, A, B, x) A += power##W(fabs(x), p)
#define MERGE(W, A, B, C, D) A += C
#undef FINISH
#define FINISH(W, A, B) (root ? power##W(A, 1 / p) : A)
#elif FOLD == FOLD_COUNT
#define START_A 0
#define STEP(W, A, B, x) A += x != 0 ? (ACC##W)(1) : (ACC##W)(0)
#define MERGE(W, A, B, C, D) A += C
#elif FOLD == FOLD_MAX
#ifdef OF_INTS
#define START_A INT_MIN
#else
#define START_A -INFINITY
#endif
#define STEP(W, A, B, x) A = ((A > x) | (A != A)) ? A : x
#define MERGE(W, A, B, C, D) STEP(W, A, B, C)
#elif FOLD == FOLD_MIN
#ifdef OF_INTS
#define START_A INT_MAX
#else
#define START_A INFINITY
#endif
#define STEP(W, A, B, x) A = ((A < x) | (A != A)) ? A : x
#define MERGE(W, A, B, C, D) STEP(W, A, B, C)
#elif FOLD == FOLD_MAX_ABS
#define START_A 0
#define STEP(W, A, B, x) A = (A > fabs(x)) | (A != A) ? A : fabs(x)
#define MERGE(W, A, B, C, D) STEP(W, A, B, C)
#elif FOLD == FOLD_MIN_ABS
#define START_A INFINITY
#define STEP(W, A, B, x) A = (A < fabs(x)) | (A != A) ? A : fabs(x)
#define MERGE(W, A, B, C, D) STEP(W, A, B, C)
#elif FOLD == FOLD_LSE
// Between equal numbers, infinite ones too, the factor is 1. A NaN enters B, where it stays.
#define START_A -INFINITY
#define FACTOR(W, x, A) (x == A ? (ACC##W)(1) : exp(-fabs(x - A)))
#define STEP(W, A, B, x)                       \
    do {                                       \
        const ACC##W e_ = FACTOR(W, x, A);     \
        B = x > A ? fma(B, e_, (ACC##W)(1)) : B + e_; \
        A = x > A ? x : A;                     \
    } while (0)
#define MERGE(W, A, B, C, D)                   \
    do {                                       \
        const ACC##W e_ = FACTOR(W, C, A);     \
        B = C > A ? fma(B, e_, D) : fma(D, e_, B); \
        A = C > A ? C : A;                     \
    } while (0)
#undef FINISH
#define FINISH(W, A, B) (A + log(B))
#endif

// What sums of blocks are gathered in.
#define FOLD_LEVELS(W, A, B) ACC##W A##_levels[PAIR_LEVELS], B##_levels[PAIR_LEVELS];

#if FOLD == FOLD_LSE
#define FOLD_PAIRWISE(W, A, B, n)                                                       \
    if ((n) % PAIR_TERMS == 0) {                                                        \
        int level_ = 0;                                                                 \
        for (uint b_ = (n) / PAIR_TERMS - 1; b_ & 1; b_ >>= 1, level_++)                \
            MERGE(W, A, B, A##_levels[level_], B##_levels[level_]);                     \
        A##_levels[level_] = A;                                                         \
        B##_levels[level_] = B;                                                         \
        A = START_A;                                                                    \
        B = START_B;                                                                    \
    }
#define FOLD_END(W, A, B, n)                                                            \
    {                                                                                   \
        int level_ = 0;                                                                 \
        for (uint b_ = (n) / PAIR_TERMS; b_ > 0; b_ >>= 1, level_++)                    \
            if (b_ & 1) MERGE(W, A, B, A##_levels[level_], B##_levels[level_]);         \
    }
#elif FOLD == FOLD_ABS || FOLD == FOLD_SQUARE || FOLD == FOLD_POW || FOLD == FOLD_SUM
#define FOLD_PAIRWISE(W, A, B, n) PAIRWISE(A, A##_levels, n)
#define FOLD_END(W, A, B, n) PAIRWISE_END(A, A##_levels, n)
#else
#if FOLD != FOLD_PROD
#define FOLD_ANY_ORDER // gives the same
#endif
#define FOLD_PAIRWISE(W, A, B, n)
#define FOLD_END(W, A, B, n)
#endif
