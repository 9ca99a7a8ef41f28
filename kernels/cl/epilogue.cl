// @depends: common, memory
// How kernels store their results, so that a map of those can be computed in the same launch: a text before this file, which
// internal/fused/epilogue.go writes, says what becomes of them. By themselves they are stored as they are.
//
//   PUT(p, at, v)      element `at` of the result that begins at p, of Y_MEMORY (see memory.cl), is v
//   PUT2(p, at, v)     two from `at` on, where p and `at` are even
//   PUT4(p, at, v)     four, where p and `at` are multiples of 4
//   PUT_PARAMS         further parameters of the entry point, and of functions that store
//   PUT_ARGS           the same as arguments
//   PUT_FIELDS         the same as fields, PUT_VALUES as their values, and
//   PUT_ROW(e, v, at, count)  up to 16 elements of a row, of what has those fields: for CPUs, and there only if a text is before

#ifndef PUT
#define PUT(p, at, v) (p)[at] = Y_TO(v)
#define PUT2(p, at, v) *(global Y_MEMORY2 *)((p) + (at)) = Y_TO2(v)
#define PUT4(p, at, v) *(global Y_MEMORY4 *)((p) + (at)) = Y_TO4(v)
#define PUT_PARAMS
#define PUT_ARGS
#define PUT_FIELDS
#define PUT_VALUES
#endif
