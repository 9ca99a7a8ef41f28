// @depends: whole
// What the files of element-wise functions share that CPUs compute with polynomials, in single precision: POLYNOMIALS
// is defined in programs of such functions, and EACH_VECTOR(F) is F(T, I, AS, AS_INT) for REAL and its vectors T,
// with the ints I as wide and the functions that take the bits of one for the other. The functions have no branches,
// so that a vector has the bits of its elements. Builtins of PoCL 3.1 compute some elements one by one, and take two
// to five times as long for others. GPUs have builtins that are faster.

#if !defined(REAL_IS_DOUBLE) && (defined(__x86_64__) || defined(__aarch64__))
#define POLYNOMIALS
#endif

#define EACH_VECTOR(F)                 \
    F(REAL, int, as_float, as_int)     \
    F(REAL2, int2, as_float2, as_int2) \
    F(REAL4, int4, as_float4, as_int4) \
    F(REAL8, int8, as_float8, as_int8) \
    F(REAL16, int16, as_float16, as_int16)

// SUBSTITUTE(NAME, builtin) declares NAME_T(x), which is a builtin.
#define SUBSTITUTE(NAME, builtin)                             \
    static REAL NAME##_REAL(REAL x) { return builtin(x); }    \
    static REAL2 NAME##_REAL2(REAL2 x) { return builtin(x); } \
    static REAL4 NAME##_REAL4(REAL4 x) { return builtin(x); } \
    static REAL8 NAME##_REAL8(REAL8 x) { return builtin(x); } \
    static REAL16 NAME##_REAL16(REAL16 x) { return builtin(x); }
