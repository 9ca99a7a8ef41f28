// @depends: convert
// Elements of 8 bits and fewer, in memory as bytes, as numbers, and floats as such elements: see package lowbit. There
// is a function for each width of the kernels of maps.
#ifndef SATURATE
#define SATURATE 1 // what is beyond the range of a float becomes its end; else an infinity, or NaN
#endif
#ifndef E8M0_ROUNDING
#define E8M0_ROUNDING 0 // between two powers of two: 0 up, 1 down, 2 to the nearer
#endif

// The number that the bits b are, and the bits of a number: of a float with the bit SIGN, FRACTION bits of the
// fraction, the exponent's bias BIAS, MOST as bits of the greatest number, and INFINITE and NOT of what is beyond it and
// of NaN.
#define FLOAT_BITS(W)                                                                                                  \
    static float##W bits_as_float##W(uchar##W b, uint SIGN,                                                            \
            int FRACTION, int BIAS, uint MOST, uint INFINITE, uint NOT) {                                              \
        const uint##W bits = convert_uint##W(b) & (2 * SIGN - 1), size = bits & (SIGN - 1);                            \
        const float##W steps = convert_float##W(size) * as_float((uint)(128 - BIAS - FRACTION) << 23);                 \
        uint##W f = (size << (23 - FRACTION)) + ((uint)(127 - BIAS) << 23);                                            \
        f = select(f, as_uint##W(steps), size < ((uint##W)1 << FRACTION));                                             \
        f = select(f, (uint##W)(INFINITE == NOT ? 0x7fc00000 : 0x7f800000), size > MOST);                              \
        f = select(f, (uint##W)0x7fc00000, size > max(MOST, INFINITE));                                                \
        if (NOT == SIGN) f = select(f, (uint##W)0x7fc00000, bits == SIGN);                                             \
        return as_float##W(f | (bits & SIGN) * (0x80000000u / SIGN));                                                  \
    }                                                                                                                  \
    static uchar##W float_as_bits##W(float##W f, uint SIGN,                                                            \
            int FRACTION, int BIAS, uint MOST, uint INFINITE, uint NOT) {                                              \
        const uint##W size = as_uint##W(f) & 0x7fffffff;                                                               \
        const int drop = 23 - FRACTION;                                                                                \
        const float##W steps = as_float##W(min(size, (uint##W)0x3f800000))                                             \
            * as_float((uint)(126 + BIAS + FRACTION) << 23);                                                           \
        uint##W r = ((size + ((1u << (drop - 1)) - 1) + (size >> drop & 1)) >> drop)                                   \
            - ((uint)(127 - BIAS) << FRACTION);                                                                        \
        r = select(r, convert_uint##W(rint(steps)), size < ((uint)(128 - BIAS) << 23));                                \
        r = select(r, (uint##W)(SATURATE ? MOST : INFINITE), r > MOST);                                                \
        uint##W sign = (as_uint##W(f) >> 31) * SIGN;                                                                   \
        if (NOT == SIGN) sign = select(sign, (uint##W)0, r == 0); /* the bits of -0 are NaN */                         \
        return convert_uchar##W(select(r | sign, (uint##W)NOT, size > 0x7f800000));                                    \
    }
FLOAT_BITS()
FLOAT_BITS(4)
FLOAT_BITS(16)

#define LOW_FLOAT_OF(W, name, SIGN, FRACTION, BIAS, MOST, INFINITE, NOT)                                               \
    static float##W from_##name(uchar##W b) { return bits_as_float##W(b, SIGN, FRACTION, BIAS, MOST, INFINITE, NOT); } \
    static uchar##W to_##name(float##W f) { return float_as_bits##W(f, SIGN, FRACTION, BIAS, MOST, INFINITE, NOT); }
#define LOW_FLOAT(name, SIGN, FRACTION, BIAS, MOST, INFINITE, NOT)                                                     \
    LOW_FLOAT_OF(, name, SIGN, FRACTION, BIAS, MOST, INFINITE, NOT)                                                    \
    LOW_FLOAT_OF(4, name##_4, SIGN, FRACTION, BIAS, MOST, INFINITE, NOT)                                               \
    LOW_FLOAT_OF(16, name##_16, SIGN, FRACTION, BIAS, MOST, INFINITE, NOT)
LOW_FLOAT(float8_e4m3fn, 0x80, 3, 7, 0x7e, 0x7f, 0x7f)
LOW_FLOAT(float8_e5m2, 0x80, 2, 15, 0x7b, 0x7c, 0x7f)
LOW_FLOAT(float8_e4m3fnuz, 0x80, 3, 8, 0x7f, 0x80, 0x80)
LOW_FLOAT(float8_e5m2fnuz, 0x80, 2, 16, 0x7f, 0x80, 0x80)
LOW_FLOAT(float4_e2m1fn, 0x08, 1, 1, 0x07, 0x07, 0x07)

// A power of two is the exponent of a float. 2^-127 is denormal, and what is around it is shifted into place.
#define POWER_BITS(W, suffix)                                                                                          \
    static float##W from_float8_e8m0fnu##suffix(uchar##W b) {                                                          \
        const uint##W e = convert_uint##W(b);                                                                          \
        return as_float##W(select(select(e << 23, (uint##W)0x400000, e == 0), (uint##W)0x7fc00000, e == 255));         \
    }                                                                                                                  \
    static uchar##W to_float8_e8m0fnu##suffix(float##W f) {                                                            \
        const uint##W size = as_uint##W(f) & 0x7fffffff;                                                               \
        int##W e = convert_int##W(size >> 23);                                                                         \
        uint##W rest = size;                                                                                           \
        rest = select(rest, size << 1, size < 0x800000);                                                               \
        e = select(e, (int##W)-1, size < 0x400000);                                                                    \
        rest = select(rest, size << 2, size < 0x400000);                                                               \
        e = select(e, (int##W)-2, size < 0x200000);                                                                    \
        rest = select(rest, size, size < 0x200000) & 0x7fffff;                                                         \
        const int##W more = select((int##W)0, (int##W)1, rest >= (E8M0_ROUNDING == 2 ? 0x400000u : 1u));               \
        if (E8M0_ROUNDING != 1) e += more;                                                                             \
        e = select(e, (int##W)(SATURATE ? 0 : 255), e < 0);                                                            \
        e = select(e, (int##W)(SATURATE ? 254 : 255), e > 254);                                                        \
        e = select(e, (int##W)255, as_uint##W(f) > 0x80000000);                                                        \
        return convert_uchar##W(select(e, (int##W)255, size > 0x7f800000));                                            \
    }
POWER_BITS(, )
POWER_BITS(4, _4)
POWER_BITS(16, _16)

// Integers: of their bytes the low bits count. Floats have their fraction cut off.
#define LOW_INTEGER_OF(W, name, T, BITS, LEAST, MOST)                                                                  \
    static T##W from_##name(uchar##W b) { return as_##T##W((uchar##W)(b << (uchar)(8 - BITS))) >> (T)(8 - BITS); }     \
    static uchar##W to_##name(float##W f) {                                                                            \
        return as_uchar##W(convert_##T##W(clamp(select(f, (float##W)0, isnan(f)), LEAST, MOST)));                      \
    }
#define LOW_INTEGER(name, T, BITS, LEAST, MOST)                                                                        \
    LOW_INTEGER_OF(, name, T, BITS, LEAST, MOST)                                                                       \
    LOW_INTEGER_OF(4, name##_4, T, BITS, LEAST, MOST)                                                                  \
    LOW_INTEGER_OF(16, name##_16, T, BITS, LEAST, MOST)
LOW_INTEGER(int4, char, 4, -8.0f, 7.0f)
LOW_INTEGER(uint4, uchar, 4, 0.0f, 15.0f)
LOW_INTEGER(int2, char, 2, -2.0f, 1.0f)
LOW_INTEGER(uint2, uchar, 2, 0.0f, 3.0f)
