// @depends: scan
// Scans for devices that run a work-group in lockstep. Of rows, tall work-items, a power of two, share a line,
// ITEM_VECTORS times four neighbours each at a time: what comes to these is scanned in registers, then that of the work-items of a warp, or of all by
// way of local memory, then behind what came before, which is a pairwise sum. Of columns, a work-item has one. The order is fixed.

#if SCAN == SCAN_MAX || SCAN == SCAN_MIN
// An element as an integer in the same order, a NaN behind all others, and its index: less than 0 is none.
#if defined(OF_LONGS) || defined(REAL_IS_DOUBLE) && !defined(OF_INTS)
#define KEY long
#define AS_KEY as_long
#define LEAST_KEY LONG_MIN
#define GREATEST_KEY LONG_MAX
typedef long2 STATE;
#else
#define KEY int
#define AS_KEY as_int
#define LEAST_KEY INT_MIN
#define GREATEST_KEY INT_MAX
typedef int2 STATE;
#endif
static KEY key(ELEM x) {
#ifdef OF_INTS
    const KEY k = x;
#else
    if (isnan(x)) return GREATEST_KEY;
    const KEY bits = x == 0 ? 0 : AS_KEY(x), k = bits < 0 ? bits ^ GREATEST_KEY : bits;
#endif
    return SCAN == SCAN_MAX ? k : ~k;
}
static STATE join(STATE a, STATE b) { return b.y >= 0 && b.x >= a.x ? b : a; }
#define START (STATE)(LEAST_KEY, -1)
#define LOAD(k) (STATE)(key(X_FROM(x[(k) * inner])), k)
#define STORE(k, s)                                           \
    do {                                                      \
        y[(k) * inner] = Y_TO(X_FROM(x[(int)(s).y * inner])); \
        where[(k) * inner] = (int)(s).y;                      \
    } while (0)
#endif

#ifndef SCAN_GROUP
#define SCAN_GROUP 256
#endif
#define ITEM_VECTORS 4
#ifdef NVIDIA_PTX
#define ENDS (ITEM_VECTORS * SCAN_GROUP / 32) // of warps
#else
#define ENDS (ITEM_VECTORS * SCAN_GROUP)
#endif

// Four neighbours from where p elements come before them in the direction: by vectors if `fours`.
#define SCAN_INDEX(p) (flags & REVERSE ? n - 1 - (p) : (p))
#define EACH_FOUR(p, body) _Pragma("unroll") for (int j = 0; j < 4; j++) if ((p) + j < n) body
#if SCAN <= SCAN_LSE
#ifdef X_HALF
#define X_FOUR X_MEMORY4
#else
#define X_FOUR ELEM4
#endif
#ifdef Y_HALF
#define Y_FOUR Y_MEMORY4
#else
#define Y_FOUR ELEM4
#endif
#define LOAD_FOUR(v, p)                                                                                \
    if (fours && (p) < n) {                                                                            \
        const ELEM4 q = X_FROM4(*(global const X_FOUR *)(x + (flags & REVERSE ? n - 4 - (p) : (p))));  \
        v[0] = flags & REVERSE ? q.w : q.x;                                                            \
        v[1] = flags & REVERSE ? q.z : q.y;                                                            \
        v[2] = flags & REVERSE ? q.y : q.z;                                                            \
        v[3] = flags & REVERSE ? q.x : q.w;                                                            \
    } else EACH_FOUR(p, v[j] = LOAD(SCAN_INDEX((p) + j));)
#define STORE_FOUR(p, v)                                                                               \
    if (fours && (p) < n)                                                                              \
        *(global Y_FOUR *)(y + (flags & REVERSE ? n - 4 - (p) : (p))) =                                \
            Y_TO4((flags & REVERSE ? (ELEM4)(v[3], v[2], v[1], v[0]) : (ELEM4)(v[0], v[1], v[2], v[3]))); \
    else EACH_FOUR(p, STORE(SCAN_INDEX((p) + j), v[j]);)
#else
#define LOAD_FOUR(v, p) EACH_FOUR(p, v[j] = LOAD(SCAN_INDEX((p) + j));)
#define STORE_FOUR(p, v) EACH_FOUR(p, STORE(SCAN_INDEX((p) + j), v[j]);)
#endif

#ifdef NVIDIA_PTX
// What a lane of the same warp has.
static STATE of_lane(STATE v, int lane) {
    union {
        STATE state;
        int words[sizeof(STATE) / 4];
    } u = {v};
    _Pragma("unroll") for (int i = 0; i < (int)(sizeof(STATE) / 4); i++)
        asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(u.words[i]) : "r"(u.words[i]), "r"(lane));
    return u.state;
}
#endif

// Makes of what the fours of this lane come to, `own`, what comes before each of them, behind s, and returns what those of all lanes
// come to. t counts the lanes of a line.
#ifdef NVIDIA_PTX
static STATE scan_lanes(STATE *own, STATE s, local STATE *ends, int t, int tall) {
    const int lid = get_local_id(0), near = min(tall, 32), l = t & (near - 1);
    STATE total[ITEM_VECTORS], all = START;
    for (int span = 1; span < near; span *= 2) {
        _Pragma("unroll") for (int f = 0; f < ITEM_VECTORS; f++) {
            const STATE b = of_lane(own[f], lid - span);
            if (l >= span) own[f] = join(b, own[f]);
        }
    }
    _Pragma("unroll") for (int f = 0; f < ITEM_VECTORS; f++) {
        const STATE b = of_lane(own[f], lid - 1);
        total[f] = of_lane(own[f], lid | (near - 1));
        own[f] = l > 0 ? b : START;
    }
    if (tall <= 32) {
        _Pragma("unroll") for (int f = 0; f < ITEM_VECTORS; f++) {
            own[f] = join(join(s, all), own[f]);
            all = join(all, total[f]);
        }
    } else {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0)
            _Pragma("unroll") for (int f = 0; f < ITEM_VECTORS; f++) ends[f * (SCAN_GROUP / 32) + lid / 32] = total[f];
        barrier(CLK_LOCAL_MEM_FENCE);
        // A lane has one of those of all warps of the line, which follow each other four by four.
        const int warps = tall / 32, k = lid % 32;
        STATE e = k < ITEM_VECTORS * warps ? ends[k / warps * (SCAN_GROUP / 32) + (lid - t) / 32 + k % warps] : START;
        for (int span = 1; span < ITEM_VECTORS * warps; span *= 2) {
            const STATE b = of_lane(e, lid - span);
            if (k >= span) e = join(b, e);
        }
        const STATE b = of_lane(e, lid - 1), before = k > 0 ? join(s, b) : s;
        all = of_lane(e, ITEM_VECTORS * warps - 1);
        _Pragma("unroll") for (int f = 0; f < ITEM_VECTORS; f++) own[f] = join(of_lane(before, f * warps + t / 32), own[f]);
    }
    return all;
}
#else
static STATE scan_lanes(STATE *own, STATE s, local STATE *ends, int t, int tall) {
    const int lid = get_local_id(0);
    STATE all = START;
    for (int f = 0; f < ITEM_VECTORS; f++) ends[f * SCAN_GROUP + lid] = own[f];
    for (int span = 1; span < tall; span *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t >= span)
            for (int f = 0; f < ITEM_VECTORS; f++) own[f] = join(ends[f * SCAN_GROUP + lid - span], own[f]);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int f = 0; f < ITEM_VECTORS; f++) ends[f * SCAN_GROUP + lid] = own[f];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int f = 0; f < ITEM_VECTORS; f++) {
        own[f] = join(s, all);
        if (t > 0) own[f] = join(own[f], ends[f * SCAN_GROUP + lid - 1]);
        all = join(all, ends[f * SCAN_GROUP + lid - t + tall - 1]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
}
#endif

static void scan(global const X_MEMORY *X, global const X_MEMORY *Z, global const ELEM *C, global Y_MEMORY *Y, global INDEX *I, int outer, int len,
                 int inner, int chunk, int shares, int tall, int flags, int fours, local STATE *ends) {
    const int lid = get_local_id(0);
    if (inner > 1) {
        const int line = get_global_id(0), row = line / inner, begin = row % shares * chunk, n = min(len - begin, chunk);
        if (row >= outer * shares) return;
        const int from = (row / shares * len + begin) * inner + line % inner;
        global const X_MEMORY *x = X + from, *z = Z + from;
        global Y_MEMORY *y = Y + from;
        global INDEX *where = I + from;
        STATE s = START, before = START;
#if SCAN <= SCAN_LSE
        if (flags & CARRY) before = C[line];
#endif
#ifdef BLOCKED
        STATE levels[PAIR_LEVELS];
        const STATE start = before;
#else
        s = before;
#endif
        for (int m = 0; m < n; m++) {
            const int k = flags & REVERSE ? n - 1 - m : m;
            const STATE next = join(s, LOAD(k)), out = flags & EXCLUSIVE ? s : next;
            s = next;
#ifdef BLOCKED
            STORE(k, join(before, out));
            PAIRWISE_BY(s, levels, m + 1, join, START)
            NEXT_BLOCK(before, start, levels, m + 1, join, START)
#else
            STORE(k, out);
#endif
        }
        return;
    }
    const int t = lid % tall, row = get_group_id(0) * (SCAN_GROUP / tall) + lid / tall, begin = row % shares * chunk;
    const int here = row < outer * shares, n = here ? min(len - begin, chunk) : 0, from = here ? row / shares * len + begin : 0;
    global const X_MEMORY *x = X + from, *z = Z + from;
    global Y_MEMORY *y = Y + from;
    global INDEX *where = I + from;
    STATE start = START, s = START, levels[PAIR_LEVELS];
#if SCAN <= SCAN_LSE
    if (here && flags & CARRY) start = C[row];
#endif
    STATE sofar = start; // what came before a block of rounds; s is what it came to
    int rounds = 0;
    for (int m = 0; m < min(len, chunk); m += 4 * ITEM_VECTORS * tall) { // as often in every row: there are barriers
        STATE v[ITEM_VECTORS][4], before[ITEM_VECTORS];
        _Pragma("unroll") for (int f = 0; f < ITEM_VECTORS; f++) {
            _Pragma("unroll") for (int j = 0; j < 4; j++) v[f][j] = START;
            LOAD_FOUR(v[f], m + (f * tall + t) * 4)
        }
        _Pragma("unroll") for (int f = 0; f < ITEM_VECTORS; f++) {
            _Pragma("unroll") for (int j = 1; j < 4; j++) v[f][j] = join(v[f][j - 1], v[f][j]);
            before[f] = v[f][3];
        }
        s = join(s, scan_lanes(before, join(sofar, s), ends, t, tall));
        rounds++;
        PAIRWISE_BY(s, levels, rounds, join, START)
        NEXT_BLOCK(sofar, start, levels, rounds, join, START)
        _Pragma("unroll") for (int f = 0; f < ITEM_VECTORS; f++) {
            _Pragma("unroll") for (int j = 3; j >= 0; j--)
                v[f][j] = !(flags & EXCLUSIVE) ? join(before[f], v[f][j]) : j > 0 ? join(before[f], v[f][j - 1]) : before[f];
            STORE_FOUR(m + (f * tall + t) * 4, v[f])
        }
    }
}

#if SCAN <= SCAN_LSE
// Y[o, k, i] is what X[o, l, i] come to over l up to k of share s of the middle axis, [s*chunk, min(len, (s+1)*chunk)): in the
// direction, with or without k itself, and behind C[o, s, i] or not, as flags say.
kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))
void k_scan(IN_OF(X_MEMORY, X), IN(C), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, int chunk, int shares, int tall, int flags) {
    local STATE ends[ENDS];
    scan(X + X_off, X, C + C_off, Y + Y_off, 0, outer, len, inner, chunk, shares, tall, flags, inner == 1 && ((len | chunk | X_off | Y_off) & 3) == 0, ends);
}
#elif SCAN <= SCAN_MIN
// Y[o, k, i] is the extreme of X[o, l, i] over l up to k, I[o, k, i] its index.
kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))
void k_scan_arg(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), OUT_OF(INDEX, I), int outer, int len, int inner, int tall) {
    local STATE ends[ENDS];
    scan(X + X_off, X, 0, Y + Y_off, I + I_off, outer, len, inner, len, 1, tall, 0, 0, ends);
}
#else
// Y[o, k, i] = X[o, k, i]·Y[o, k − 1, i] + Z[o, k, i], 0 being before the first; with the flag REVERSE, k + 1 and the last. With
// SHIFTED the factor is the X of where that Y is.
kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))
void k_scan_linear(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, Z), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, int tall, int flags) {
    local STATE ends[ENDS];
    scan(X + X_off, Z + Z_off, 0, Y + Y_off, 0, outer, len, inner, len, 1, tall, flags, 0, ends);
}
#endif
