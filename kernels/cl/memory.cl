// @depends: common, halves
// What a kernel of sums reads, X, and writes, Y, is of these types in memory, and has these functions that make floats of elements
// and elements of floats: floats, unless the kernel is built for some of 16 bits.

#ifdef X_HALF
#define X_MEMORY ushort
#define X_FROM HALF_NAME(from_, X_HALF)
#define X_FROM16 HALF_NAME16(from_, X_HALF)
#else
#define X_MEMORY ELEM
#define X_FROM(x) (x)
#define X_FROM16(x) (x)
#endif

#ifdef Y_HALF
#define Y_MEMORY ushort
#define Y_FROM HALF_NAME(from_, Y_HALF)
#define Y_FROM16 HALF_NAME16(from_, Y_HALF)
#define Y_TO HALF_NAME(to_, Y_HALF)
#define Y_TO16 HALF_NAME16(to_, Y_HALF)
#else
#define Y_MEMORY ELEM
#define Y_FROM(y) (y)
#define Y_FROM16(y) (y)
#define Y_TO(y) (y)
#define Y_TO16(y) (y)
#endif

#define HALF_NAME(way, T) HALF_PASTE(way, T, )
#define HALF_NAME16(way, T) HALF_PASTE(way, T, _16)
#define HALF_PASTE(way, T, width) way##T##width
