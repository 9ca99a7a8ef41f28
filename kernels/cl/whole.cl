// @depends: common
// The nearest whole numbers of a number or of a vector x: FLOOR(x), CEIL(x), TRUNC(x) and, ties to even, RINT(x).
// CPUs have an instruction for each. The builtins of PoCL 3.1 are sequences of fifteen.

#if defined(__has_builtin) && (defined(__SSE4_1__) || defined(__aarch64__))
#if __has_builtin(__builtin_elementwise_roundeven)
#define FLOOR(x) __builtin_elementwise_floor(x)
#define CEIL(x) __builtin_elementwise_ceil(x)
#define TRUNC(x) __builtin_elementwise_trunc(x)
#define RINT(x) __builtin_elementwise_roundeven(x)
#endif
#endif
#ifndef RINT
#define FLOOR(x) floor(x)
#define CEIL(x) ceil(x)
#define TRUNC(x) trunc(x)
#define RINT(x) rint(x)
#endif
