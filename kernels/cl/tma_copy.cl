// @depends: common
// Copies of whole blocks to local memory, on NVIDIA's devices from capability 9.0 on: one work-item asks for a block, and a barrier in
// local memory, a counter, counts the bytes that have come.

#ifdef NVIDIA_PTX
static void expect(uint counter, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(counter), "r"(bytes) : "memory");
}
static void copy_bytes(local uint4 *to, global const uint4 *from, int bytes, uint counter) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 : : "r"((uint)(ulong)to), "l"(from), "r"(bytes), "r"(counter) : "memory");
}
static int arrived(uint counter, int phase) {
    int r;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }" : "=r"(r) : "r"(counter), "r"(phase) : "memory");
    return r;
}
static void count_up_to(uint counter, int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(counter), "r"(arrivals) : "memory");
}
static void leave(uint counter) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(counter) : "memory"); }
#endif
