// @depends: epilogue, groups, halves, gemm_tile, tensor_map
// @target: sm_90a
// Matrix products of operands of 16 bits, read as they lie, on the matrix units of NVIDIA's devices of
// capability 9.0: C = f(op(A)·op(B) + C·accumulate + bias), of float32.
//
// The forms are those of gemm_tile.cl. An operand begins at a multiple of 16 bytes. Its rows are multiples
// of 16 bytes apart, and so are the matrices of a batch. `slice` is K or a multiple of TK.
//
// A work-group computes TM×TN tiles of C, one after the other, a group of 128 work-items 64 rows of each.
// One more warp makes maps of both operands in MAPS and copies tiles of TK steps, as soon as there is room:
// STAGES at most are on their way or read, also those of the next tile of C. At the end MAPS is zeros.
//
// Without NVIDIA_PTX the same source computes with ordinary arithmetic.

#ifndef TM
#define TM 128 // rows of the tile, a multiple of 64
#endif
#ifndef TN
#define TN 256 // columns of the tile: 64, 128, 192 or 256
#endif
#ifndef STAGES
#define STAGES 4 // buffers
#endif
#define TK 64  // steps of k of a copied tile, whose rows have 128 bytes
#define BAND_ROWS 16 // rows of tiles that are computed at a time, column by column
#define GROUP 128
#define GROUPS (TM / 64)
#define ITEMS (GROUPS * GROUP + 32)
#define BYTES_A (TM * TK * 2)
#define BYTES_B (TN * TK * 2)
#define SLAB (64 * TK * 2) // of 64 rows or columns. An operand whose rows are along them is copied in slabs
#define MAPS_WORDS 64 // of MAPS that a work-group has, from a multiple of 128 bytes on
#define MAPS_EXTRA 32 // that MAPS has more, so that it can begin at any word
#define STORED_PARAMS                                                                                         \
    IN_OF(ushort, A), IN_OF(ushort, B), IN(BIAS), OUT(C), int m, int n, int K, int lda, int ldb, int ldc,       \
        int accumulate, int biased, int rows, int slice

#if INNER == HALVES
#define WIDE from_float16
#else
#define WIDE from_bfloat16
#endif
#ifdef BATCH_AT
#define PRODUCTS batch
#else
#define PRODUCTS 1
#endif

// The tile t of all: its part z, and where it begins.
#define TILE_AT(t)                                                                            \
    const int z = (t) / (columns * down), in_part = (t) % (columns * down);                   \
    const int band = in_part / (BAND_ROWS * columns) * BAND_ROWS;                             \
    const int high = min(BAND_ROWS, down - band), in_band = in_part - band * columns;         \
    const int i0 = (band + in_band % high) * TM, j0 = in_band / high * TN;                    \
    const int k_start = z / PRODUCTS * slice, k_end = min(K, k_start + slice);

#ifdef NVIDIA_PTX
#define MULTIPLIES 1
#define WARP_DONE asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");

#define TEXT_0 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21" \
    ", %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TEXT_1 \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51" \
    ", %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TEXT_2 \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83" \
    ", %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define TEXT_3 \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112" \
    ", %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_32(i) SUMS_8(i), SUMS_8(i + 8), SUMS_8(i + 16), SUMS_8(i + 24)
#if TN == 256
#define SHAPE "n256"
#define TEXT TEXT_0 TEXT_1 TEXT_2 TEXT_3
#define ADDED SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96)
#define OPERANDS "%128, %129, p, 1, 1"
#define ADD "%130"
#elif TN == 192
#define SHAPE "n192"
#define TEXT TEXT_0 TEXT_1 TEXT_2
#define ADDED SUMS_32(0), SUMS_32(32), SUMS_32(64)
#define OPERANDS "%96, %97, p, 1, 1"
#define ADD "%98"
#elif TN == 128
#define SHAPE "n128"
#define TEXT TEXT_0 TEXT_1
#define ADDED SUMS_32(0), SUMS_32(32)
#define OPERANDS "%64, %65, p, 1, 1"
#define ADD "%66"
#else
#define SHAPE "n64"
#define TEXT TEXT_0
#define ADDED SUMS_32(0)
#define OPERANDS "%32, %33, p, 1, 1"
#define ADD "%34"
#endif
#if A_ALONG_X
#define TURN_A TURNED
#else
#define TURN_A STRAIGHT
#endif
#if B_ALONG_X
#define TURN_B TURNED
#else
#define TURN_B STRAIGHT
#endif

// d += a·b, or d = a·b, of 64 rows of A and TN columns of B, when WAIT_BUT_FOR says so.
static void multiply(float *d, ulong a, ulong b, int add) {
    asm volatile(FOR_GROUPS "{ .reg .pred p; setp.ne.b32 p, " ADD ", 0; wgmma.mma_async.sync.aligned.m64" SHAPE
                            GROUP_TYPES " {" TEXT "}, " OPERANDS TURN_A TURN_B "; }"
                 : ADDED : "l"(a), "l"(b), "r"(add) : "memory");
}

// Where the units find an operand in local memory: eight rows of 128 bytes are a unit of the swizzle, and
// slabs follow each other. Then how far apart STEP steps are there, in units of 16 bytes.
#define FIND(at) ((ulong)(uint)(at) | (ulong)(SLAB >> 4) << 16 | (ulong)(1024 >> 4) << 32 | (ulong)1 << 62)
#define APART_A ((A_ALONG_X ? STEP * 128 : STEP * 2) >> 4)
#define APART_B ((B_ALONG_X ? STEP * 128 : STEP * 2) >> 4)

// The map of an operand [x, K], whose rows of memory are along x or k and ld apart.
static void make_map(uint map, global const ushort *p, int rank, int along_x, int x, int K, int width, int ld) {
    map_begin(map, p, rank);
    MAP_LENGTH(0, along_x ? x : K, 64)
    MAP_LENGTH(1, along_x ? K : x, along_x ? TK : width)
    MAP_STRIDE(0, (ulong)ld * 2)
}

// Copies an operand's tile of WIDTH x from x0 on, and TK steps from k0 on. s0 to s2 are the strides of a
// batch: an axis along which the same matrix repeats has one in the map.
#ifdef BATCH_AT
#define RANK 5
#define MAP_BATCH(i, before, length, stride)       \
    MAP_LENGTH(i, (stride) == 0 ? 1 : (length), 1) \
    MAP_STRIDE(before, (stride) == 0 ? 16 : (ulong)(stride) * 2)
#define COPY(to, map, x, y, s0, s1, s2) \
    copy_tile_of(to, map, x, y, (s2) == 0 ? 0 : at2, (s1) == 0 ? 0 : at1, (s0) == 0 ? 0 : at0, come + 8 * now)
#else
#define RANK 2
#define COPY(to, map, x, y, s0, s1, s2) copy_tile(to, map, x, y, come + 8 * now)
#endif
#define COPY_OPERAND(to, map, along_x, width, x0, s0, s1, s2)                  \
    if (along_x)                                                               \
        _Pragma("unroll") for (int s = 0; s < (width) / 64; s++)               \
            COPY((to) + s * SLAB, map, (x0) + s * 64, k0, s0, s1, s2);         \
    else COPY(to, map, k0, x0, s0, s1, s2);
#else
#define MULTIPLIES (group < GROUPS) // the other warp meets the barriers, too
#define WARP_DONE barrier(CLK_LOCAL_MEM_FENCE);
#endif

// Does something with the elements of a warp's rows of a tile, four of a row at a time: v are the sums, `add`
// the bias, r their row and y their column. Blocks of COLUMNS columns pass through local memory, so that
// lanes which are neighbours store neighbours.
#define COLUMNS 32
#define ROW 40 // elements of a row there: lanes that write at the same time do so on different banks
#define LANES (COLUMNS / 4) // that store a row
#define TEXT_OF(x) #x
#define UNROLL(n) TEXT_OF(unroll n)
#define EACH_FOUR(rows_at_once, what)                                                                         \
    _Pragma("unroll") for (int c = 0; c < TN; c += COLUMNS) {                                                 \
        if (MULTIPLIES)                                                                                       \
            _Pragma("unroll") for (int e = 0; e < COLUMNS / 4; e++) {                                         \
                const float *two = &acc[c / 8 + e / 2][e % 2 * 2];                                            \
                local float *to = mine + (lane / 4 + e % 2 * 8) * ROW + e / 2 * 8 + lane % 4 * 2;             \
                *(local float2 *)to = (float2)(two[0], two[1]);                                               \
            }                                                                                                 \
        WARP_DONE                                                                                             \
        const int y = j0 + c + lane % LANES * 4;                                                              \
        const float4 add = biased ? load4(BIAS + BIAS_off + y, n - y, 0) : (float4)0;                         \
        if (MULTIPLIES)                                                                                       \
            _Pragma(UNROLL(rows_at_once)) for (int r = lane / LANES; r < 16; r += 32 / LANES) {               \
                float4 v = *(local const float4 *)(mine + r * ROW + lane % LANES * 4);                        \
                what                                                                                          \
            }                                                                                                 \
        WARP_DONE                                                                                             \
    }

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void ENTRY(STORED_PARAMS BATCH_PARAMS EPILOGUE_PARAMS, OUT(MAPS) PUT_PARAMS) {
    local float blocks[GROUPS * 4][16 * ROW] __attribute__((aligned(16)));
    const int lid = get_local_id(0), group = lid / GROUP, warp = lid / 32, lane = lid % 32;
    const int columns = (n + TN - 1) / TN, down = (m + TM - 1) / TM;
    const int tiles = columns * down * PRODUCTS * ((K + slice - 1) / slice);
#ifdef NVIDIA_PTX
    local uint4 as[STAGES][BYTES_A / 16] __attribute__((aligned(1024)));
    local uint4 bs[STAGES][BYTES_B / 16] __attribute__((aligned(1024)));
    local uint maps[MAPS_WORDS] __attribute__((aligned(128)));
    local ulong counters[2 * STAGES];
    local int4 places[STAGES]; // of a tile that begins with a stage: row, column, part, and how many stages
    const uint come = (uint)(ulong)counters, done = come + 8 * STAGES;
    global int *own = (global int *)(((ulong)(MAPS + MAPS_off) + 127) / 128 * 128) + get_group_id(0) * MAPS_WORDS;
    int now = 0, phase = 0;
    if (lid == 0) {
        for (int s = 0; s < STAGES; s++) {
            count_up_to(come + 8 * s, 1);
            count_up_to(done + 8 * s, GROUPS * 4);
        }
        asm volatile("fence.proxy.async;" : : : "memory");
    }
    if (group == GROUPS) { // lane 0 makes A's map, lane 1 that of B
        maps[lane] = maps[lane + 32] = 0;
        WARP_DONE
        if (lane < 2) {
            const int b = lane;
            const uint map = (uint)(ulong)(maps + b * MAP_WORDS);
            make_map(map, b ? B + B_off : A + A_off, RANK, b ? B_ALONG_X : A_ALONG_X, b ? n : m, K, b ? TN : TM,
                     b ? ldb : lda);
#ifdef BATCH_AT
            MAP_BATCH(2, 1, n2, b ? b2 : a2)
            MAP_BATCH(3, 2, n1, b ? b1 : a1)
            MAP_BATCH(4, 3, batch / (n1 * n2), b ? b0 : a0)
#endif
        }
        WARP_DONE
        map_publish(own, (uint)(ulong)maps);
        map_publish(own + MAP_WORDS, (uint)(ulong)(maps + MAP_WORDS));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (group == GROUPS) {
        if (lane > 0) return;
        map_acquire(own);
        map_acquire(own + MAP_WORDS);
        for (int t = get_group_id(0); t < tiles; t += get_num_groups(0)) {
            TILE_AT(t)
#ifdef BATCH_AT
            const int y = z % batch, at0 = y / (n1 * n2), at1 = y / n2 % n1, at2 = y % n2;
#endif
            for (int k0 = k_start; k0 < k_end; k0 += TK) {
                while (!arrived(done + 8 * now, phase ^ 1)) {}
                if (k0 == k_start) places[now] = (int4)(i0, j0, z, (k_end - k_start + TK - 1) / TK);
                expect(come + 8 * now, BYTES_A + BYTES_B);
                COPY_OPERAND((uint)(ulong)as[now], own, A_ALONG_X, TM, i0, a0, a1, a2)
                COPY_OPERAND((uint)(ulong)bs[now], own + MAP_WORDS, B_ALONG_X, TN, j0, b0, b1, b2)
                if (++now == STAGES) now = 0, phase ^= 1;
            }
        }
        return;
    }
    const int at_a = ((uint)(ulong)as + group * SLAB) >> 4, at_b = (uint)(ulong)bs >> 4;
#endif
    const int even_c = (C_off | ldc) % 4 == 0;
    local float *mine = blocks[min(warp, GROUPS * 4 - 1)];
    for (int t = get_group_id(0); t < tiles; t += get_num_groups(0)) {
        float acc[TN / 8][4]; // of rows lane/4 and 8 more of a warp's 16, of columns lane%4*2 and the next of each 8
#ifdef NVIDIA_PTX
        while (!arrived(come + 8 * now, phase)) {}
        const int4 place = places[now];
        const int i0 = place.s0, j0 = place.s1, z = place.s2;
        for (int step = 0; step < place.s3; step++) { // a stage's products are under way while the next one's begin
            if (step > 0)
                while (!arrived(come + 8 * now, phase)) {}
            multiply_from_here();
#pragma unroll
            for (int k = 0; k < TK / STEP; k++)
                multiply(&acc[0][0], FIND(at_a + now * (BYTES_A >> 4) + k * APART_A),
                         FIND(at_b + now * (BYTES_B >> 4) + k * APART_B), k + step);
            multiply_to_here();
            if (step > 0) {
                WAIT_BUT_FOR(1);
                if (lane == 0) leave(done + 8 * (now == 0 ? STAGES - 1 : now - 1));
            }
            if (++now == STAGES) now = 0, phase ^= 1;
        }
        WAIT_BUT_FOR(0);
        if (lane == 0) leave(done + 8 * (now == 0 ? STAGES - 1 : now - 1));
#else
        TILE_AT(t)
#ifdef BATCH_AT
        const int part = z % batch, a_at = BATCH_AT(part, a0, a1, a2), b_at = BATCH_AT(part, b0, b1, b2);
#else
        const int a_at = 0, b_at = 0;
#endif
        global const ushort *a = A + A_off + a_at, *b = B + B_off + b_at;
        for (int e = 0; e < TN / 2; e++) {
            const int x = i0 + warp * 16 + lane / 4 + e % 4 / 2 * 8, y = j0 + e / 4 * 8 + lane % 4 * 2 + e % 2;
            float sum = 0;
            if (MULTIPLIES && x < m && y < n)
                for (int k = k_start; k < k_end; k++) {
                    const float v = WIDE(a[A_ALONG_X ? k * lda + x : x * lda + k]);
                    sum = fma(v, WIDE(b[B_ALONG_X ? k * ldb + y : y * ldb + k]), sum);
                }
            acc[e / 4][e % 4] = sum;
        }
#endif
        const int x0 = i0 + warp * 16;
        if (even_c && i0 + TM <= m && j0 + TN <= n) {
            const int from = (z * m + x0) * ldc;
            EACH_FOUR(4, { END_FOUR(from + r * ldc + y, v, add) })
        } else {
            EACH_FOUR(1, { END_ROW_4(x0 + r, y, v, add) })
        }
    }
#ifdef NVIDIA_PTX // all copies have come
    const int begin = own - get_group_id(0) * MAPS_WORDS - (global int *)(MAPS + MAPS_off);
#else
    const int begin = 0;
#endif
    const int mine_at = begin + get_group_id(0) * MAPS_WORDS, end = get_num_groups(0) * MAPS_WORDS;
    if (lid < MAPS_WORDS) MAPS[MAPS_off + mine_at + lid] = 0;
    if (get_group_id(0) == 0 && lid < MAPS_EXTRA) MAPS[MAPS_off + (lid < begin ? lid : end + lid)] = 0;
}
