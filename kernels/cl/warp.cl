// @depends: common
// What lanes of a warp of NVIDIA's devices have, for kernels that join it by registers.

#ifdef NVIDIA_PTX
// What the lane has whose number differs by the bits of `mask`.
static int other_int(int v, int mask) {
    int r;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(r) : "r"(v), "r"(mask));
    return r;
}
#ifdef REAL_IS_DOUBLE
static REAL other(REAL v, int mask) {
    const int2 u = as_int2(v);
    return as_double((int2)(other_int(u.x, mask), other_int(u.y, mask)));
}
#else
static REAL other(REAL v, int mask) { return as_float(other_int(as_int(v), mask)); }
#endif
static REAL2 others(REAL2 v, int mask) { return (REAL2)(other(v.x, mask), other(v.y, mask)); }
#endif
