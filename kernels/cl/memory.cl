// @depends: common, halves
// What kernels read, X_MEMORY, and what they write, Y_MEMORY, are of these types in memory, and have these functions that make
// floats of elements and elements of floats, one by one or by 2, 4, 8 or 16: floats, unless the kernel is built for some of 16 bits,
// with X_HALF, Y_HALF or both naming the type. X_LOAD16, Y_LOAD16 and Y_STORE16 move sixteen of global memory.

#ifdef X_HALF
#define X_MEMORY ushort
#define X_MEMORY4 ushort4
#define X_FROM HALF_NAME(from_, X_HALF)
#define X_FROM4 HALF_NAME4(from_, X_HALF)
#define X_FROM8(x) (float8)(X_FROM4((x).lo), X_FROM4((x).hi))
#define X_FROM16 HALF_NAME16(from_, X_HALF)
#define X_LOAD16(p) X_FROM16(vload16(0, p))
#else
#define X_MEMORY ELEM
#define X_MEMORY4 REAL4
#define X_FROM(x) (x)
#define X_FROM4(x) (x)
#define X_FROM8(x) (x)
#define X_FROM16(x) (x)
#define X_LOAD16(p) IN_MEMORY(global const, REAL16, p)
#endif

#ifdef Y_HALF
#define Y_MEMORY ushort
#define Y_MEMORY2 ushort2
#define Y_MEMORY4 ushort4
#define Y_FROM HALF_NAME(from_, Y_HALF)
#define Y_FROM2(y) (float2)(Y_FROM((y).s0), Y_FROM((y).s1))
#define Y_FROM4 HALF_NAME4(from_, Y_HALF)
#define Y_FROM16 HALF_NAME16(from_, Y_HALF)
#define Y_TO HALF_NAME(to_, Y_HALF)
#define Y_TO2(y) (ushort2)(Y_TO((y).s0), Y_TO((y).s1))
#define Y_TO4 HALF_NAME4(to_, Y_HALF)
#define Y_TO16 HALF_NAME16(to_, Y_HALF)
#define Y_LOAD16(p) Y_FROM16(vload16(0, p))
#define Y_STORE16(v, p) vstore16(Y_TO16(v), 0, p)
#else
#define Y_MEMORY ELEM
#define Y_MEMORY2 REAL2
#define Y_MEMORY4 REAL4
#define Y_FROM(y) (y)
#define Y_FROM2(y) (y)
#define Y_FROM4(y) (y)
#define Y_FROM16(y) (y)
#define Y_TO(y) (y)
#define Y_TO2(y) (y)
#define Y_TO4(y) (y)
#define Y_TO16(y) (y)
#define Y_LOAD16(p) IN_MEMORY(global, REAL16, p)
#define Y_STORE16(v, p) IN_MEMORY(global, REAL16, p) = (v)
#endif

#define HALF_NAME(way, T) HALF_PASTE(way, T, )
#define HALF_NAME4(way, T) HALF_PASTE(way, T, _4)
#define HALF_NAME16(way, T) HALF_PASTE(way, T, _16)
#define HALF_PASTE(way, T, width) way##T##width
