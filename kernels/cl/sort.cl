// @depends: common
// The order that sorts follow: the elements as unsigned integers, NaN behind all others, or with the flag DESCENDING the other
// way round. Elements are reals, or with OF_INTS ints, or with OF_LONGS too longs; or with HALF_INFINITY floats of 16 bits, as these
// bits, of which it is the infinity.

#define DESCENDING 1
#define GIVEN 2 // the indices of the elements are those of I, not their places

#if defined(HALF_INFINITY)
#define KEY ushort
#define TOP_BIT 0x8000
#elif defined(OF_LONGS) || defined(REAL_IS_DOUBLE) && !defined(OF_INTS)
#define KEY ulong
#define AS_KEY as_ulong
#define TOP_BIT 0x8000000000000000UL
#else
#define KEY uint
#define AS_KEY as_uint
#define TOP_BIT 0x80000000U
#endif

#if defined(OF_LONGS)
#define ELEM16 long16
#elif defined(OF_INTS)
#define ELEM16 int16
#else
#define ELEM16 REAL16
#endif

#ifdef HALF_INFINITY
#define IS_NAN(x) (((x) & ~TOP_BIT) > HALF_INFINITY)
#else
#define IS_NAN(x) ((x) != (x))
#endif

static KEY sort_key(ELEM x, int flags) {
#if defined(OF_INTS)
    const KEY k = (KEY)x ^ TOP_BIT;
#elif defined(HALF_INFINITY)
    const int size = x & ~TOP_BIT; // both zeros are one
    const KEY k = IS_NAN(x) ? 0xffff : (x & TOP_BIT ? -size : size) ^ TOP_BIT;
#else
    const KEY bits = x == 0 ? 0 : AS_KEY(x); // both zeros are one
    const KEY k = IS_NAN(x) ? ~(KEY)0 : bits & TOP_BIT ? ~bits : bits | TOP_BIT;
#endif
    return flags & DESCENDING ? ~k : k;
}
