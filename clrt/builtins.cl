// What stands before a program for PoCL in place of Clang's opencl-c.h: macros that declare built-in
// functions of OpenCL C 1.2. builtins.go adds the declarations. Types and constants are there already.
#ifdef cl_khr_fp16
#error "the functions of half are not here"
#endif
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define DOUBLE(declarations) declarations
#else
#define DOUBLE(declarations)
#endif

#define OVERLOAD __attribute__((overloadable))
#define PURE __attribute__((overloadable, pure))             // reads memory
#define CONST __attribute__((overloadable, const))           // reads none
#define CONVERGENT __attribute__((overloadable, convergent)) // may not move into a branch

// D(f, T, I, U) declares f for a type T: I and U are the types of integers as wide.
#define WIDTHS(D, f, T, I, U) D(f, T, I, U) D(f, T##2, I##2, U##2) D(f, T##3, I##3, U##3) D(f, T##4, I##4, U##4) D(f, T##8, I##8, U##8) D(f, T##16, I##16, U##16)
#define FLOATS(D, f) WIDTHS(D, f, float, int, uint) DOUBLE(WIDTHS(D, f, double, long, ulong))
#define SIGNED(D, f) WIDTHS(D, f, char, char, uchar) WIDTHS(D, f, short, short, ushort) WIDTHS(D, f, int, int, uint) WIDTHS(D, f, long, long, ulong)
#define UNSIGNED(D, f) WIDTHS(D, f, uchar, char, uchar) WIDTHS(D, f, ushort, short, ushort) WIDTHS(D, f, uint, int, uint) WIDTHS(D, f, ulong, long, ulong)
#define INTEGERS(D, f) SIGNED(D, f) UNSIGNED(D, f)
#define TYPES(D, f) INTEGERS(D, f) FLOATS(D, f)
#define F1(f, T, I, U) T CONST f(T);
#define F2(f, T, I, U) T CONST f(T, T);
#define F3(f, T, I, U) T CONST f(T, T, T);
#define TO_UNSIGNED(f, T, I, U) U CONST f(T);
#define TO_UNSIGNED2(f, T, I, U) U CONST f(T, T);
#define TO_INT(f, T, I, U) int CONST f(T);
#define SELECT(f, T, I, U) T CONST f(T, T, I); T CONST f(T, T, U);

// D(f, V, T) declares f for a vector V of elements T.
#define VECTORS(D, f, T) D(f, T##2, T) D(f, T##3, T) D(f, T##4, T) D(f, T##8, T) D(f, T##16, T)
#define FLOAT_VECTORS(D, f) VECTORS(D, f, float) DOUBLE(VECTORS(D, f, double))
#define INTEGER_VECTORS(D, f) VECTORS(D, f, char) VECTORS(D, f, uchar) VECTORS(D, f, short) VECTORS(D, f, ushort) VECTORS(D, f, int) VECTORS(D, f, uint) VECTORS(D, f, long) VECTORS(D, f, ulong)
#define SCALAR2(f, V, T) V CONST f(V, T);
#define SCALAR3(f, V, T) V CONST f(V, T, T);
#define INT2(f, V, T) V CONST f(V, int);

#define SCALE(f, T, I) T CONST f(T, I);
#define SCALES(f, T) SCALE(f, T, int) SCALE(f, T##2, int2) SCALE(f, T##3, int3) SCALE(f, T##4, int4) SCALE(f, T##8, int8) SCALE(f, T##16, int16)

// A relation of scalars is an int; of vectors, integers as wide.
#define RELATION(f, T, I) int CONST f(T); I##2 CONST f(T##2); I##3 CONST f(T##3); I##4 CONST f(T##4); I##8 CONST f(T##8); I##16 CONST f(T##16);

#define CONVERT(to, n, mode, T) to##n CONST convert_##to##n##mode(T##n);
#define CONVERSION(to, n, mode) CONVERT(to, n, mode, char) CONVERT(to, n, mode, uchar) CONVERT(to, n, mode, short) CONVERT(to, n, mode, ushort) CONVERT(to, n, mode, int) CONVERT(to, n, mode, uint) CONVERT(to, n, mode, long) CONVERT(to, n, mode, ulong) CONVERT(to, n, mode, float) DOUBLE(CONVERT(to, n, mode, double))

#define PREFETCH(f, T, I, U) void OVERLOAD f(const global T *, size_t);
// D(n, V, T, space) declares a load or a store of n elements T as a vector V.
#define LOAD(n, V, T, space) V PURE vload##n(size_t, const space T *);
#define STORE(n, V, T, space) void OVERLOAD vstore##n(V, size_t, space T *);
#define LOAD_HALF(n, V, T, space) float##n PURE vload_half##n(size_t, const space half *);
#define STORE_HALF(n, V, T, space) void OVERLOAD vstore_half##n##_rte(V, size_t, space half *);
#define SPACES(D, n, V, T) D(n, V, T, global) D(n, V, T, local) D(n, V, T, private)
#define ELEMENTS(D, n) SPACES(D, n, char##n, char) SPACES(D, n, uchar##n, uchar) SPACES(D, n, short##n, short) SPACES(D, n, ushort##n, ushort) SPACES(D, n, int##n, int) SPACES(D, n, uint##n, uint) SPACES(D, n, long##n, long) SPACES(D, n, ulong##n, ulong) SPACES(D, n, float##n, float) DOUBLE(SPACES(D, n, double##n, double))
#define CONSTANTS(n) LOAD(n, char##n, char, constant) LOAD(n, uchar##n, uchar, constant) LOAD(n, short##n, short, constant) LOAD(n, ushort##n, ushort, constant) LOAD(n, int##n, int, constant) LOAD(n, uint##n, uint, constant) LOAD(n, long##n, long, constant) LOAD(n, ulong##n, ulong, constant) LOAD(n, float##n, float, constant) DOUBLE(LOAD(n, double##n, double, constant))

#define ATOMIC1(f, T, space) T OVERLOAD f(volatile space T *);
#define ATOMIC2(f, T, space) T OVERLOAD f(volatile space T *, T);
#define ATOMIC3(f, T, space) T OVERLOAD f(volatile space T *, T, T);
#define ATOMIC(D, f) D(f, int, global) D(f, int, local) D(f, uint, global) D(f, uint, local)
#ifdef cl_khr_int64_base_atomics
#define LONG_ATOMIC(D, f) D(f, long, global) D(f, long, local) D(f, ulong, global) D(f, ulong, local)
#else
#define LONG_ATOMIC(D, f)
#endif
