// @depends: exp_near
// The exponential for rows and attention: exp_T(x) of a type T for x ≤ 0, −∞ and NaN. In single precision results below the least
// normal number are 0. The builtin takes any argument.

#ifdef REAL_IS_DOUBLE
#define EXP(T) \
    static T exp_##T(T x) { return exp(x); }
#else
#define EXP(T) \
    static T exp_##T(T x) { return x < -87.3365f ? (T)0.0f : exp_near_##T(x < -87.3365f ? (T)-87.0f : x); }
#endif

EXP(REAL)
EXP(REAL16)
