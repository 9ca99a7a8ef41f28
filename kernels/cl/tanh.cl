// @depends: common
// The hyperbolic tangent, of a variable of type T: 1 where 1 is the nearest real, from 13·ln 2 on in single and from
// 27.5·ln 2 on in double precision. The builtin may be off in the last place there, and 1 − tanh(x) times a large x,
// as in a GELU, is then far from 0.

#ifdef REAL_IS_DOUBLE
#define TANH_IS_ONE 19.07
#else
#define TANH_IS_ONE 9.02f
#endif

#define TANH(T, x) (fabs(x) > (T)TANH_IS_ONE ? copysign((T)1, x) : tanh(x))
