// @depends: common
// What arg_cpu.cl and arg_gpu.cl look for: the greatest element of a line, or with LEAST the least, and its first index. A NaN
// is beyond all others. Elements are reals, or with OF_INTS ints.

#ifdef LEAST
#define BEYOND <
#else
#define BEYOND >
#endif

#ifdef OF_INTS
#define ELEM16 int16
#else
#define ELEM16 REAL16
#endif

#if defined(REAL_IS_DOUBLE) && !defined(OF_INTS)
#define PLACE long // an integer as wide as an element
#define PLACE16 long16
#else
#define PLACE int
#define PLACE16 int16
#endif

// Whether x, which lies behind a, takes its place.
#define TAKES(x, a) ((x BEYOND a) | ((x != x) & (a == a)))

// Whether x at i goes before a at k, wherever they lie.
static int goes_before(ELEM x, int i, ELEM a, int k) {
    return TAKES(x, a) || ((x == a || (x != x && a != a)) && i < k);
}
