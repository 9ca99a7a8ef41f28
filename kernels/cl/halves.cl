// @depends: common
// Floats of 16 bits, in memory as the bits that they are, as floats, and floats rounded to them: to nearest, ties to even. One
// function for each width of the kernels of maps. No extension is needed: vload_half and vstore_half_rte are of OpenCL 1.0.

static float from_float16(ushort h) { return vload_half(0, (const half *)&h); }
static float4 from_float16_4(ushort4 h) { return vload_half4(0, (const half *)&h); }
static float16 from_float16_16(ushort16 h) { return vload_half16(0, (const half *)&h); }

static ushort to_float16(float v) { ushort h; vstore_half_rte(v, 0, (half *)&h); return h; }
static ushort4 to_float16_4(float4 v) { ushort4 h; vstore_half4_rte(v, 0, (half *)&h); return h; }
static ushort16 to_float16_16(float16 v) { ushort16 h; vstore_half16_rte(v, 0, (half *)&h); return h; }

static float from_bfloat16(ushort h) { return as_float((uint)h << 16); }
static float4 from_bfloat16_4(ushort4 h) { return as_float4(convert_uint4(h) << 16); }
static float16 from_bfloat16_16(ushort16 h) { return as_float16(convert_uint16(h) << 16); }

// The bits of a float rounded to a bfloat16, which is its upper half. Every NaN becomes the same one.
#define ROUNDED_BITS(bits) ((bits + 0x7fff + (bits >> 16 & 1)) >> 16)
static ushort to_bfloat16(float v) { return isnan(v) ? 0x7fc0 : (ushort)ROUNDED_BITS(as_uint(v)); }
#if defined(NVIDIA_PTX) && defined(BFLOAT16_UNITS) // of capability 8.0 on: every NaN becomes another one
static ushort4 to_bfloat16_4(float4 v) {
    uint2 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r.s0) : "f"(v.s1), "f"(v.s0));
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r.s1) : "f"(v.s3), "f"(v.s2));
    return as_ushort4(r);
}
#else
static ushort4 to_bfloat16_4(float4 v) { return convert_ushort4(select(ROUNDED_BITS(as_uint4(v)), (uint4)0x7fc0, isnan(v))); }
#endif
static ushort16 to_bfloat16_16(float16 v) { return convert_ushort16(select(ROUNDED_BITS(as_uint16(v)), (uint16)0x7fc0, isnan(v))); }
