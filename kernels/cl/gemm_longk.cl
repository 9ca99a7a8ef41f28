// @depends: epilogue, groups, tma_copy, gemm_tail, gemm_lanes, gemm_tile
// @target: sm_90a
// Matrix products of few rows and columns and many steps on the matrix units of NVIDIA's devices of capability 9.0: C = Aᵀ·B, the
// gradient of weights from many samples. C, arguments and what is computed are those of gemm_mma.cl.
//
//   FORM 2, tn  A: [k*lda + i]  B: [k*ldb + j]
//
// The bound is the memory. A work-group computes a tile of C, of 64 by 64, in a share of the sum. WAYS groups of 128 work-items take TK
// steps of it in turn, and their sums are added up at the end, in their order. Each has STAGES blocks of both operands, which are on
// their way or read. A lane makes the parts of A in the registers from which the units take them, of rows that are neighbours in
// memory, so that lane 4g + t of a warp has rows 2g and 2g + 1 of its 16, and of the steps every fourth from t on. Those of B are
// staged in rows along j, in the order that these steps have for the units.
//
// Operands of 64 columns whose rows are contiguous in memory are copied by the block, others loaded, as is a block that is
// cut off. Blocks in which an element is not a sum of parts are computed by fma. Without NVIDIA_PTX ordinary arithmetic does all of it,
// from the same staged parts.

#ifndef TM
#define TM 64 // no other
#endif
#ifndef TN
#define TN 64 // no other
#endif
#ifndef TK
#define TK 16 // no other
#endif
#ifndef WM
#define WM TM
#endif
#ifndef WN
#define WN TN
#endif
#ifndef WAYS
#define WAYS 2
#endif
#ifndef STAGES
#define STAGES 2
#endif
#define GROUP 128
#define ITEMS (WAYS * GROUP)
#define DOWN 1
#define APART 0
#define COLUMNS 144 // bytes from one chunk of eight columns to the next, of which eight steps have 128: lanes that store a row are on different banks
#define STEPS_8 (TN / 8 * COLUMNS) // from eight steps to the next
#define PLANE (TK / 8 * STEPS_8)
#define SLOT(k) ((k) / 8 * STEPS_8 + ((k) % 4 * 2 + (k) / 4 % 2) * 16) // where step k is, of the order that a lane's steps have
#ifdef NVIDIA_PTX // the rows of a lane
#undef ROW_OF
#define ROW_OF(e) (lane / 4 * 2 + (e) / 2)
#endif

// Stages four columns of B, of which `second` says whether they are the second of a chunk, in step k of a block.
static void stage_columns(local uchar *to, int chunk, int second, int k, float4 v, uint *left, float *size) {
    uint2 words[PLANES];
    split(v, words, left, size);
#pragma unroll
    for (int p = 0; p < PLANES; p++) *(local uint2 *)(to + p * PLANE + chunk * COLUMNS + SLOT(k) + second * 8) = words[p];
}

#ifdef NVIDIA_PTX
// Where the units find columns of a staged plane.
static ulong columns_at(uint at) { return (ulong)(at >> 4 & 0x3fff) | (ulong)(STEPS_8 >> 4) << 16 | (ulong)(COLUMNS >> 4) << 32; }

// A barrier of a group, which is one of WAYS, and whether a work-item of it says so.
static int any_of_group(int way, int flag) {
    int r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.or.pred p, %2, 128, p; selp.s32 %0, 1, 0, p; }" : "=r"(r) : "r"(flag), "r"(way + 1) : "memory");
    return r;
}

// The same number, of which the compiler computes nothing before, for what is rarely done in a loop that is short of registers.
static int known_here(int v) {
    asm volatile("" : "+r"(v));
    return v;
}

static void meet(int way) { asm volatile("bar.sync %0, 128;" : : "r"(way + 1) : "memory"); }

// The lanes' parts of rows 2g and 2g + 1: v[i] is step 4i + t.
static void parts_of_rows(uint a[PLANES][4], const float2 *v, uint *left, float *size) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        uint2 words[PLANES];
        split(h ? (float4)(v[0].s1, v[1].s1, v[2].s1, v[3].s1) : (float4)(v[0].s0, v[1].s0, v[2].s0, v[3].s0), words, left, size);
#pragma unroll
        for (int p = 0; p < PLANES; p++) a[p][h] = words[p].s0, a[p][h + 2] = words[p].s1;
    }
}

// Asks for the block from step k on, which goes to a stage as it lies in memory.
#define COPY_BLOCK(stage, k)                                                                                          \
    if (id == 0 && (k) + TK <= k_end) {                                                                               \
        const uint counter = counters_at + 8 * (stage);                                                               \
        expect(counter, TK * (TM + TN) * 4);                                                                          \
        copy_bytes((local uint4 *)ring[way][stage], (global const uint4 *)(a + (k) * TM), TK * TM * 4, counter);      \
        copy_bytes((local uint4 *)(ring[way][stage] + TK * TM), (global const uint4 *)(b + (k) * TN), TK * TN * 4, counter); \
    }

// Stages a block's four columns of B in two steps, and makes the parts of A. All of the group have read what they are made of then.
#define STAGE_BLOCK                                                                       \
    uint parts[PLANES][4], left = 0;                                                      \
    float size = 0;                                                                       \
    STAGE_B(step, of_b[0])                                                                \
    STAGE_B(step + 8, of_b[1])                                                            \
    parts_of_rows(parts, of_a, &left, &size);                                             \
    FOR_UNITS                                                                             \
    const int strange = any_of_group(way, INNER == PARTS && !ORDINARY(left, size));

// Adds the products of a block. All of the group are done with what is staged then.
#if INNER == PARTS
#define MULTIPLY_BLOCK                                                                    \
    if (strange) {                                                                        \
        const int here = known_here(lane);                                                \
        {                                                                                 \
            const int lane = here;                                                        \
            MULTIPLY_STRANGE(k0, min(k0 + TK, k_end))                                     \
        }                                                                                 \
    } else {                                                                                \
        float d[WN / 2], *c = &acc[0][0][0];                                              \
        const ulong high = columns_at(own_at), middle = columns_at(own_at + PLANE), low = columns_at(own_at + 2 * PLANE); \
        multiply_from_here();                                                             \
        MULTIPLY_LANES(d, parts[2], high, 0, TURNED)                                      \
        MULTIPLY_LANES(d, parts[0], low, 1, TURNED)                                       \
        MULTIPLY_LANES(d, parts[1], middle, 1, TURNED)                                    \
        MULTIPLY_LANES(d, parts[1], high, 1, TURNED)                                      \
        MULTIPLY_LANES(d, parts[0], middle, 1, TURNED)                                    \
        MULTIPLY_LANES(d, parts[0], high, 1, TURNED)                                      \
        multiply_to_here();                                                               \
        WAIT_BUT_FOR(0);                                                                  \
        _Pragma("unroll") for (int e = 0; e < WN / 2; e++) c[e] += d[e];                  \
    }                                                                                     \
    meet(way);
#else
#define MULTIPLY_BLOCK                                           \
    float *d = &acc[0][0][0];                                    \
    multiply_from_here();                                        \
    MULTIPLY_LANES(d, parts[0], columns_at(own_at), 1, TURNED)   \
    multiply_to_here();                                          \
    WAIT_BUT_FOR(0);                                             \
    meet(way);
#endif
#else
// A staged element of B.
static float staged_at(local const uchar *from, int k, int y) {
    const int at = y / 8 * COLUMNS + SLOT(k) + y % 8 * 2;
#if INNER == HALVES
    return vload_half(0, (local const half *)(from + at));
#else
    float sum = 0;
    for (int p = PLANES - 1; p >= 0; p--) sum += as_float((uint)*(local const ushort *)(from + p * PLANE + at) << 16);
    return sum;
#endif
}
#endif

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_gemm_tn(OWN_PARAMS BATCH_PARAMS EPILOGUE_PARAMS PUT_PARAMS) {
    local uint4 bs[WAYS][PLANES * PLANE / 16] __attribute__((aligned(16)));
    const int lid = get_local_id(0), way = lid / GROUP, id = lid % GROUP, lane = lid % 32;
    GROUP_PROLOGUE
    const int i0 = row * TM, j0 = column * TN, ti = id / 32 * 16, tj = 0;
    const int k_start = part * slice, k_end = min(K, k_start + slice);
    const int even_b = (b_at | ldb) % 4 == 0;
    global const float *a = A + a_at, *b = B + b_at;
    local uchar *own = (local uchar *)bs[way];
    float acc[DOWN][WN / 8][4];
#pragma unroll
    for (int j = 0; j < WN / 8; j++)
#pragma unroll
        for (int e = 0; e < 4; e++) acc[0][j][e] = 0;
    // What a work-item stages: four columns in two steps.
    const int four = id % 16, step = id / 16;
#define STAGE_B(k, v) stage_columns(own, four / 2, four % 2, k, v, &left, &size);
#define LOAD_B(k) load4(b + (k) * ldb + j0 + 4 * four, (k) < k_end ? n - j0 - 4 * four : 0, even_b)
#ifdef NVIDIA_PTX
    local float ring[WAYS][STAGES][2 * TK * TM] __attribute__((aligned(128)));
    local ulong counters[WAYS][STAGES];
    const uint counters_at = (uint)(ulong)counters[way], own_at = (uint)(ulong)own;
    const int whole = lda == TM && ldb == TN && m == TM && n == TN && (a_at | b_at) % 4 == 0; // a block is one piece of memory
    const int x = ti + ROW_OF(0), t = lane % 4;
    if (id == 0) {
        for (int s = 0; s < STAGES; s++) count_up_to(counters_at + 8 * s, 1);
        FOR_UNITS
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (whole)
#pragma unroll
        for (int s = 0; s < STAGES; s++) COPY_BLOCK(s, k_start + (s * WAYS + way) * TK)
    int now = 0, phase = 0, k0 = k_start + way * TK;
    if (whole)
        for (; k0 + TK <= k_end; k0 += WAYS * TK) {
            while (!arrived(counters_at + 8 * now, phase)) {}
            local const float *from = ring[way][now];
            float2 of_a[4];
            float4 of_b[2];
#pragma unroll
            for (int i = 0; i < 4; i++) of_a[i] = *(local const float2 *)(from + (4 * i + t) * TM + x);
#pragma unroll
            for (int i = 0; i < 2; i++) of_b[i] = *(local const float4 *)(from + (TK + step + 8 * i) * TM + 4 * four);
            STAGE_BLOCK
            COPY_BLOCK(now, k0 + STAGES * WAYS * TK)
            if (++now == STAGES) now = 0, phase ^= 1;
            MULTIPLY_BLOCK
        }
    for (; k0 < k_end; k0 += WAYS * TK) {
        float2 of_a[4];
        float4 of_b[2];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int k = k0 + 4 * i + t;
            of_a[i].s0 = k < k_end && i0 + x < m ? a[k * lda + i0 + x] : 0;
            of_a[i].s1 = k < k_end && i0 + x + 1 < m ? a[k * lda + i0 + x + 1] : 0;
        }
#pragma unroll
        for (int i = 0; i < 2; i++) of_b[i] = LOAD_B(k0 + step + 8 * i);
        STAGE_BLOCK
        MULTIPLY_BLOCK
    }
    local float4 *room = (local float4 *)ring;
#else
    local int strange[WAYS];
    local float4 room[TM * TN / 4 * (WAYS - 1)];
    for (int from = k_start; from < k_end; from += WAYS * TK) {
        const int k0 = from + way * TK, to = min(k0 + TK, k_end);
        uint left = 0;
        float size = 0;
        barrier(CLK_LOCAL_MEM_FENCE); // all are done with what is staged
        if (id == 0) strange[way] = 0;
        STAGE_B(step, LOAD_B(k0 + step))
        STAGE_B(step + 8, LOAD_B(k0 + step + 8))
        barrier(CLK_LOCAL_MEM_FENCE);
        if (INNER == PARTS && !ORDINARY(left, size)) atomic_or(&strange[way], 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (strange[way]) { MULTIPLY_STRANGE(k0, to) }
        else
            for (int k = k0; k < to; k++) {
                const float u = i0 + ti + ROW_OF(0) < m ? factor(a[k * lda + i0 + ti + ROW_OF(0)]) : 0;
                for (int j = 0; j < WN / 8; j++)
                    for (int e = 0; e < 4; e++) acc[0][j][e] = fma(u, staged_at(own, k - k0, 8 * j + COLUMN_OF(e)), acc[0][j][e]);
            }
    }
#endif
#if WAYS > 1
    barrier(CLK_LOCAL_MEM_FENCE);
    if (way > 0)
#pragma unroll
        for (int j = 0; j < WN / 8; j++) {
            const float *c = acc[0][j];
            room[((way - 1) * (WN / 8) + j) * GROUP + id] = (float4)(c[0], c[1], c[2], c[3]);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (way > 0) return;
#pragma unroll
    for (int w = 0; w < WAYS - 1; w++)
#pragma unroll
        for (int j = 0; j < WN / 8; j++) {
            const float4 v = room[(w * (WN / 8) + j) * GROUP + id];
            float *c = acc[0][j];
            c[0] += v.s0, c[1] += v.s1, c[2] += v.s2, c[3] += v.s3;
        }
#endif
    END_WARP
}
