// Types and helpers that every kernel file uses.
//
// REAL is the device's real type, float unless built with -DREAL_IS_DOUBLE. ELEM is the element type of buffers: REAL,
// unless a kernel is built for another. A buffer argument is always followed by the offset of its first element: views
// share one buffer. Float16 and bfloat16 are in memory as their bits, ushort: see halves.cl. With -DFUNCTIONS, files that
// join others' launches have no entry points of their own: see internal/fused/vertical.go.

// Kernels for elements of any type test for NaN with x != x, which Clang finds odd for integers.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wtautological-compare"
#endif

#ifdef REAL_IS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define REAL double
#define REAL2 double2
#define REAL4 double4
#define REAL8 double8
#define REAL16 double16
#else
#define REAL float
#define REAL2 float2
#define REAL4 float4
#define REAL8 float8
#define REAL16 float16
#endif

// For functions with local memory that a kernel calls twice: PoCL 3.1 has that memory once for all of its threads otherwise.
#define INLINE __attribute__((always_inline))

// For a function of more than a few lines that kernels for CPUs call: PoCL compiles it in half the time.
#define NOINLINE __attribute__((noinline))

#ifndef ELEM
#define ELEM REAL
#endif

// The type of indices: int, or long where a kernel is built for those that operations return.
#ifndef INDEX
#define INDEX int
#define INDICES16(v) (v)
#else
#define INDICES16(v) convert_long16(v)
#endif

#define IN(name) global const ELEM *name, int name##_off
#define OUT(name) global ELEM *name, int name##_off
#define IN_INTS(name) global const int *name, int name##_off
#define OUT_INTS(name) global int *name, int name##_off
#define IN_BYTES(name) global const uchar *name, int name##_off
#define OUT_BYTES(name) global uchar *name, int name##_off
#define IN_OF(T, name) global const T *name, int name##_off
#define OUT_OF(T, name) global T *name, int name##_off

// Asks a CPU for the line of the cache that p is in, to write there if `writes`. p may be outside of any buffer. PREFETCH_LATER asks for
// what is read later, and leaves it in the second cache.
#if defined(__x86_64__) || defined(__aarch64__)
#define PREFETCH(p, writes) __builtin_prefetch((const void *)(size_t)(p), writes)
#define PREFETCH_LATER(p) __builtin_prefetch((const void *)(size_t)(p), 0, 2)
#else
#define PREFETCH(p, writes)
#define PREFETCH_LATER(p)
#endif

// The vector of type V that begins at p, in an address space, and is aligned as its elements are. PoCL 3.1 puts what vload returns
// together of halves of halves, and its compiler then computes with these.
#define IN_MEMORY(space, V, p) (((space struct __attribute__((packed)) { V v; } *)(p))->v)
