// @depends: common
// Conversions between element types. What a type does not hold becomes the nearest that it holds: fractions are cut off,
// numbers beyond the range of an integer become its end, those beyond float16 or bfloat16 infinite. A NaN is 0 as an
// integer.

static int real_as_int(REAL x) {
    if (isnan(x)) return 0;
    return x >= (REAL)0x1p31f ? INT_MAX : x <= -(REAL)0x1p31f ? INT_MIN : (int)x;
}

static uchar real_as_uchar(REAL x) {
    if (isnan(x)) return 0;
    return x >= 255 ? 255 : x <= 0 ? 0 : (uchar)(int)x;
}

// The float between which and x no float16 or bfloat16 lies, nor the middle of two: a double is rounded to odd, for
// rounding it twice to nearest would be wrong.
static float real_as_float(REAL x) {
#ifdef REAL_IS_DOUBLE
    const float f = (float)x;
    if ((REAL)f == x || isnan(x) || (as_uint(f) & 1)) return f;
    return as_float(fabs((REAL)f) > fabs(x) ? as_uint(f) - 1 : as_uint(f) + 1);
#else
    return x;
#endif
}

// The bits of x as a bfloat16, the upper half of a float: rounded to nearest, ties to even. Every NaN is the same one.
static ushort real_as_bfloat16(REAL x) {
    if (isnan(x)) return 0x7fc0;
    const uint bits = as_uint(real_as_float(x));
    return (ushort)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#define EACH(store)                  \
    const int i = get_global_id(0);  \
    if (i < n) store;

kernel void k_real_to_int32(IN(X), OUT_INTS(Y), int n) { EACH(Y[Y_off + i] = real_as_int(X[X_off + i])) }
kernel void k_real_to_uint8(IN(X), OUT_BYTES(Y), int n) { EACH(Y[Y_off + i] = real_as_uchar(X[X_off + i])) }
kernel void k_real_to_float16(IN(X), OUT_HALVES(Y), int n) { EACH(vstore_half_rte(real_as_float(X[X_off + i]), Y_off + i, Y)) }

// The buffers of bfloat16 are those of float16.
kernel void k_real_to_bfloat16(IN(X), OUT_HALVES(Y), int n) { EACH(((global ushort*)Y)[Y_off + i] = real_as_bfloat16(X[X_off + i])) }
kernel void k_bfloat16_to_real(IN_HALVES(X), OUT(Y), int n) { EACH(Y[Y_off + i] = as_float((uint)((global const ushort*)X)[X_off + i] << 16)) }

kernel void k_real_to_float32(IN(X), OUT_FLOATS(Y), int n) { EACH(Y[Y_off + i] = (float)X[X_off + i]) }
kernel void k_float32_to_real(IN_FLOATS(X), OUT(Y), int n) { EACH(Y[Y_off + i] = X[X_off + i]) }

kernel void k_int32_to_real(IN_INTS(X), OUT(Y), int n) { EACH(Y[Y_off + i] = (REAL)X[X_off + i]) }
kernel void k_int32_to_uint8(IN_INTS(X), OUT_BYTES(Y), int n) { EACH(Y[Y_off + i] = (uchar)clamp(X[X_off + i], 0, 255)) }
// A float holds every int that is not infinite as a float16.
kernel void k_int32_to_float16(IN_INTS(X), OUT_HALVES(Y), int n) { EACH(vstore_half_rte((float)X[X_off + i], Y_off + i, Y)) }

kernel void k_uint8_to_real(IN_BYTES(X), OUT(Y), int n) { EACH(Y[Y_off + i] = X[X_off + i]) }
kernel void k_uint8_to_int32(IN_BYTES(X), OUT_INTS(Y), int n) { EACH(Y[Y_off + i] = X[X_off + i]) }
kernel void k_uint8_to_float16(IN_BYTES(X), OUT_HALVES(Y), int n) { EACH(vstore_half_rte((float)X[X_off + i], Y_off + i, Y)) }

kernel void k_float16_to_real(IN_HALVES(X), OUT(Y), int n) { EACH(Y[Y_off + i] = vload_half(X_off + i, X)) }
kernel void k_float16_to_int32(IN_HALVES(X), OUT_INTS(Y), int n) { EACH(Y[Y_off + i] = real_as_int(vload_half(X_off + i, X))) }
kernel void k_float16_to_uint8(IN_HALVES(X), OUT_BYTES(Y), int n) { EACH(Y[Y_off + i] = real_as_uchar(vload_half(X_off + i, X))) }
