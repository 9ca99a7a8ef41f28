// @depends: common, memory, pairwise
// What the scans of scan_cpu.cl and scan_gpu.cl run along a line: SCAN says which. A STATE is what has come so far; JOIN makes
// one of two that follow each other. LOAD reads element k of a line, inner apart, STORE writes it, in the types of memory.cl.

#define SCAN_SUM 0    // Σ x
#define SCAN_PROD 1   // Π x
#define SCAN_LSE 2    // log Σ eˣ
#define SCAN_MAX 3    // the greatest x and its last index; a NaN is greater than all others
#define SCAN_MIN 4    // the least x and its last index; a NaN is less than all others
#define SCAN_LINEAR 5 // y = a·y + b

#ifndef SCAN
#define SCAN SCAN_SUM
#endif

#define REVERSE 1   // flags: from the end to the start,
#define EXCLUSIVE 2 // without the element itself,
#define CARRY 4     // behind what C holds,
#define SHIFTED 8   // each with the factor of the element before

#if SCAN <= SCAN_LSE
#define STATE ELEM
#if defined(OF_LONGS)
#define ELEM4 long4
#define ELEM8 long8
#define ELEM16 long16
#elif defined(OF_INTS)
#define ELEM4 int4
#define ELEM8 int8
#define ELEM16 int16
#else
#define ELEM4 REAL4
#define ELEM8 REAL8
#define ELEM16 REAL16
#endif
#if SCAN == SCAN_SUM
#define NEUTRAL 0
#define BLOCKED // what came before a block of PAIR_TERMS is joined in pairs: see pairwise.cl
#define JOINED(W, a, b) ((a) + (b))
#elif SCAN == SCAN_PROD
#define NEUTRAL 1
#define JOINED(W, a, b) ((a) * (b))
#else
#define NEUTRAL -INFINITY
#define LN2 (REAL)0.69314718055994530942
#define BLOCKED
#define JOINED(W, a, b) ((a) == (b) ? (a) + (REAL##W)LN2 : ((a) > (b) ? (a) : (b)) + log1p(exp(-fabs((a) - (b)))))
#endif
static STATE join(STATE a, STATE b) { return JOINED(, a, b); }
#define START NEUTRAL
#define LOAD(k) X_FROM(x[(k) * inner])
#define STORE(k, s) y[(k) * inner] = Y_TO(s)
#elif SCAN == SCAN_LINEAR
typedef REAL2 STATE; // the factor of what came before, and what is added to it
// A factor of 0 stays 0, and what adds nothing is multiplied by nothing: an infinite factor makes NaN of neither.
static STATE join(STATE a, STATE b) {
    return (STATE)(a.x == 0 ? a.x : a.x * b.x, a.y == 0 && a.x != 0 ? b.y : fma(b.x, a.y, b.y));
}
#define START (STATE)(1, 0)
#define FIRST(k) (flags & REVERSE ? (k) == n - 1 : (k) == 0) // nothing comes before it: its factor is 0
#define FACTOR(k) X_FROM(x[(flags & SHIFTED ? (flags & REVERSE ? (k) + 1 : (k) - 1) : (k)) * inner])
#define LOAD(k) (STATE)(FIRST(k) ? 0 : FACTOR(k), X_FROM(z[(k) * inner]))
#define STORE(k, s) y[(k) * inner] = Y_TO((s).y)
#endif

// Makes `before`, what came before a block, that of the next one: the blocks so far, of which levels holds the sums, behind `start`.
#define NEXT_BLOCK(before, start, levels, n, JOIN, none)                          \
    if ((n) % PAIR_TERMS == 0) {                                                  \
        before = none;                                                            \
        PAIRWISE_END_BY(before, levels, n, JOIN)                                  \
        before = JOIN(start, before);                                             \
    }
