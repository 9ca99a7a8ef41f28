// @depends: atan_parts
// The angle of the point (x, y): atan2_T(y, x) of a type T. In single precision on CPUs that of the quotient of the
// smaller and the larger coordinate, from the axis that is nearer: at most 2 ulp.

#ifdef POLYNOMIALS
#define ATAN2(T, I, AS, AS_INT)                                                                   \
    static T atan2_##T(T y, T x) {                                                                \
        const T ax = fabs(x), ay = fabs(y), over = ax < ay ? -ax : ay, under = ax < ay ? ay : ax; \
        const T quotient = over == under ? (T)1.0f : over / under; /* of infinities, too */       \
        const T near = over == -under ? (T)-1.0f : quotient, to = under == 0 ? (T)0.0f : near;    \
        const T side = copysign((T)1.0f, x), t = to * side;                                       \
        const T base = ax < ay ? (T)1.0f : side < 0 ? (T)2.0f : (T)0.0f;                          \
        const T v = copysign(atan_sum_##T(base, t, atan_more_##T(t)), y);                         \
        return x != x || y != y ? (T)NAN : v;                                                     \
    }
EACH_VECTOR(ATAN2)
#else
#define ATAN2(T, I, AS, AS_INT) \
    static T atan2_##T(T y, T x) { return atan2(y, x); }
EACH_VECTOR(ATAN2)
#endif
