// @depends: common
// atomic_add_real(p, v): *p += v, atomically. OpenCL 1.2 has no such function for reals.

#if defined(REAL_IS_DOUBLE)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
static void atomic_add_real(volatile global double *p, double v) {
    ulong seen = 0, before; // a wrong guess costs one turn; a plain read of *p would be a race
    do {
        before = seen;
        seen = atom_cmpxchg((volatile global ulong *)p, before, as_ulong(as_double(before) + v));
    } while (seen != before);
}
#elif defined(NVIDIA_PTX)
static void atomic_add_real(volatile global float *p, float v) {
    asm volatile("red.global.add.f32 [%0], %1;" : : "l"(p), "f"(v) : "memory");
}
#else
static void atomic_add_real(volatile global float *p, float v) {
    uint seen = 0, before; // as above
    do {
        before = seen;
        seen = atomic_cmpxchg((volatile global uint *)p, before, as_uint(as_float(before) + v));
    } while (seen != before);
}
#endif
