// @depends: epilogue, groups, gemm_swizzled
// @target: sm_90a
// Matrix products of packed operands on the matrix units of NVIDIA's devices of capability 9.0, whose instructions are those of four
// warps and read both operands from local memory. C, arguments and what is computed are those of gemm_mma.cl.
//
// A work-group computes a TM×TN tile of C, a group of 128 work-items WM×WN of it. One more warp copies the blocks of both operands,
// as soon as there is room: STAGES at most are on their way or read. A barrier in local memory for each counts the bytes
// that have come, another the warps that are done with it.
//
// With PARTS a step's six products are added up on the units, and ordinary additions add that: see mma.cl.
//
// Without NVIDIA_PTX the same source computes with ordinary arithmetic, from the same blocks.

#ifndef TM
#define TM 64 // rows of the tile, a multiple of WM
#endif
#ifndef TN
#define TN 128 // columns of the tile, a multiple of WN
#endif
#ifndef TK
#define TK 16 // steps of k of a block, a multiple of STEP, with PARTS STEP
#endif
#ifndef WM
#define WM 64 // rows of a group, a multiple of 64
#endif
#ifndef WN
#define WN 128 // columns of a group: no others
#endif
#ifndef STAGES
#define STAGES 2 // buffers
#endif
#define DOWN (WM / 64)
#define APART 64
#define GROUP 128
#define GROUPS (TM / WM * (TN / WN))
#define ITEMS (GROUPS * GROUP + 32)
#define ROW_A TK
#define ROW_B TK
#define ROWS_A 0
#define ROWS_B 0

#ifdef NVIDIA_PTX
// d += a·b, or d = a·b, of 64 rows of A and 128 columns of B, when WAIT_BUT_FOR says so.
#define SUMS_TEXT                                                                                                   \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "         \
    "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, " \
    "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
static void multiply(float *d, ulong a, ulong b, int add) {
    asm volatile(FOR_GROUPS "{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128" GROUP_TYPES " " SUMS_TEXT
                            ", %64, %65, p, 1, 1" STRAIGHT STRAIGHT "; }"
                 : SUMS_8(0), SUMS_8(8), SUMS_8(16), SUMS_8(24), SUMS_8(32), SUMS_8(40), SUMS_8(48), SUMS_8(56)
                 : "l"(a), "l"(b), "r"(add) : "memory");
}

// Where the units find rows of a block: neighbours along k 128 bytes apart, and eight rows CHUNKS(TK) times that.
static ulong rows_at(uint at) { return (ulong)(at >> 4 & 0x3fff) | (ulong)(128 >> 4) << 16 | (ulong)(CHUNKS(TK) * 128 >> 4) << 32; }
#endif

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void ENTRY(OWN_PARAMS BATCH_PARAMS EPILOGUE_PARAMS PACKED_PARAMS PUT_PARAMS) {
    local uint4 as[STAGES][PLANES * PLANE_A] __attribute__((aligned(128))), bs[STAGES][PLANES * PLANE_B] __attribute__((aligned(128)));
    const int lid = get_local_id(0), group = lid / GROUP, lane = lid % 32;
    GROUP_PROLOGUE
    TILE
    const int first_row = group / (TN / WN) * WM, ti = first_row + lid % GROUP / 32 * 16, tj = group % (TN / WN) * WN;
    const int k_start = part * slice, k_end = min(K, k_start + slice);
    global const float *a = A + a_at, *b = B + b_at;
    float acc[DOWN][WN / 8][4];
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < WN / 8; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) acc[i][j][e] = 0;
    BLOCKS
#ifdef NVIDIA_PTX
    local ulong counters[2 * STAGES];
    const uint come = (uint)(ulong)counters, done = come + 8 * STAGES;
    int now = 0, phase = 0;
    if (lid == 0) {
        for (int s = 0; s < STAGES; s++) {
            count_up_to(come + 8 * s, 1);
            count_up_to(done + 8 * s, GROUPS * 4);
        }
        asm volatile("fence.proxy.async;" : : : "memory");
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (group == GROUPS) {
        if (lane > 0) return;
        for (int t = first; t < last; t++) {
            while (!arrived(done + 8 * now, phase ^ 1)) {}
            expect(come + 8 * now, BYTES_A + BYTES_B);
            copy_bytes(as[now], pa, BYTES_A, come + 8 * now);
            copy_bytes(bs[now], pb, BYTES_B, come + 8 * now);
            pa += PLANES * PLANE_A, pb += PLANES * PLANE_B;
            if (++now == STAGES) now = 0, phase ^= 1;
        }
        return;
    }
    const uint base_a = (uint)(ulong)as + first_row * (TK / CHUNK * 16), base_b = (uint)(ulong)bs + tj * (TK / CHUNK * 16);
#define ROWS_OF_A(plane, i, k) rows_at(base_a + now * BYTES_A + (plane) * (PLANE_A * 16) + (i) * (64 * TK / CHUNK * 16) + (k) * 256)
#define ROWS_OF_B(plane, k) rows_at(base_b + now * BYTES_B + (plane) * (PLANE_B * 16) + (k) * 256)
#define DONE_WITH(s) if (lane == 0) leave(done + 8 * (s));
#if INNER == PARTS
    int strange = STRANGE_AT(first);
#endif
    for (int t = first; t < last; t++) {
        while (!arrived(come + 8 * now, phase)) {}
#if INNER == PARTS
        const int k0 = t * TK, by_fma = strange;
        if (t + 1 < last) strange = STRANGE_AT(t + 1);
        if (by_fma) {
            MULTIPLY_STRANGE(k0, min(k0 + TK, k_end))
            DONE_WITH(now)
        } else {
#pragma unroll
            for (int i = 0; i < DOWN; i++) {
                float sums[WN / 2], *c = &acc[i][0][0];
                multiply_from_here();
                multiply(sums, ROWS_OF_A(2, i, 0), ROWS_OF_B(0, 0), 0);
                multiply(sums, ROWS_OF_A(0, i, 0), ROWS_OF_B(2, 0), 1);
                multiply(sums, ROWS_OF_A(1, i, 0), ROWS_OF_B(1, 0), 1);
                multiply(sums, ROWS_OF_A(1, i, 0), ROWS_OF_B(0, 0), 1);
                multiply(sums, ROWS_OF_A(0, i, 0), ROWS_OF_B(1, 0), 1);
                multiply(sums, ROWS_OF_A(0, i, 0), ROWS_OF_B(0, 0), 1);
                multiply_to_here();
                WAIT_BUT_FOR(0);
                if (i == DOWN - 1) { DONE_WITH(now) }
#pragma unroll
                for (int e = 0; e < WN / 2; e++) c[e] += sums[e];
            }
        }
#else // the products of a block are under way while the next one's begin
        multiply_from_here();
#pragma unroll
        for (int k = 0; k < TK / STEP; k++)
#pragma unroll
            for (int i = 0; i < DOWN; i++) multiply(&acc[i][0][0], ROWS_OF_A(0, i, k), ROWS_OF_B(0, k), 1);
        multiply_to_here();
        WAIT_BUT_FOR(1);
        if (t > first) { DONE_WITH(now == 0 ? STAGES - 1 : now - 1) }
#endif
        if (++now == STAGES) now = 0, phase ^= 1;
    }
#if INNER != PARTS
    WAIT_BUT_FOR(0);
#endif
#else
    for (int t = first; t < last; t++) {
        const int k0 = t * TK, strange = STRANGE_AT(t);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int c = lid; c < PLANES * PLANE_A; c += ITEMS) as[0][c] = pa[c];
        for (int c = lid; c < PLANES * PLANE_B; c += ITEMS) bs[0][c] = pb[c];
        barrier(CLK_LOCAL_MEM_FENCE);
        pa += PLANES * PLANE_A, pb += PLANES * PLANE_B;
        if (group < GROUPS) {
            if (strange) { MULTIPLY_STRANGE(k0, min(k0 + TK, k_end)) }
            else { MULTIPLY_STAGED(as[0], bs[0], 0, TK) }
        }
    }
    if (group == GROUPS) return;
#endif
    END_WARP
}
