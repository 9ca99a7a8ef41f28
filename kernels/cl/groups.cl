// @depends: mma
// Instructions of NVIDIA's devices of capability 9.0 for groups of four warps, for programs with `// @target: sm_90a`.
//
// They read B, and may read A, from local memory. What they add to is in the registers of the group's lanes, as that of mma.cl's: warp w
// of a group has rows 16·w and up of 64. They run beside what comes after them up to WAIT_BUT_FOR. Source: the PTX ISA, "Asynchronous
// warpgroup level matrix instructions".

#ifdef NVIDIA_PTX
#define FOR_GROUPS "//sm_90a "
#if INNER == TF32
#define GROUP_TYPES "k8.f32.tf32.tf32"
#define STRAIGHT ""
#elif INNER == HALVES || INNER == PAIRS || INNER == SCALED
#define GROUP_TYPES "k16.f32.f16.f16"
#define STRAIGHT ", 0"
#else
#define GROUP_TYPES "k16.f32.bf16.bf16"
#define STRAIGHT ", 0"
#endif

#define TURNED ", 1" // an operand whose steps are rows in local memory, which none of tf32 may be

static void multiply_from_here(void) { asm volatile(FOR_GROUPS "wgmma.fence.sync.aligned;" : : : "memory"); }
static void multiply_to_here(void) { asm volatile(FOR_GROUPS "wgmma.commit_group.sync.aligned;" : : : "memory"); }
#define WAIT_BUT_FOR(n) asm volatile(FOR_GROUPS "wgmma.wait_group.sync.aligned " #n ";" : : : "memory")
#define SUMS_8(i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

// d += a·b, or d = a·b, of 64 rows of A, which are in the lanes, and 64 columns of B, when WAIT_BUT_FOR says so.
#define MULTIPLY_LANES(d, a, b, add, turn)                                                                                              \
    asm volatile(FOR_GROUPS "{ .reg .pred p; setp.ne.b32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64" GROUP_TYPES                    \
                            " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
                            "%24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, p, 1, 1" turn "; }"                     \
                 : SUMS_8(0), SUMS_8(8), SUMS_8(16), SUMS_8(24)                                                                          \
                 : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "l"(b), "r"(add) : "memory");

// What is written to local memory is there for the units, after a barrier.
#define FOR_UNITS asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
#endif
