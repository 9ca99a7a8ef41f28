// @depends: scan
// Scans for CPUs: one work-item per work-group, which takes a run of lines, or blocks of sixteen columns; of sums, products
// and logarithms of sums sixteen elements of a row, or columns, at a time. What came before a block is a pairwise sum. The order is fixed.

#if SCAN <= SCAN_LSE
// What has come up to each lane, in four steps.
static ELEM16 prefix(ELEM16 v) {
    v = JOINED(16, ((ELEM16)(NEUTRAL, v.lo, v.s89ab, v.scd, v.se)), v);
    v = JOINED(16, ((ELEM16)(NEUTRAL, NEUTRAL, v.lo, v.s89ab, v.scd)), v);
    v = JOINED(16, ((ELEM16)((ELEM4)(NEUTRAL), v.lo, v.s89ab)), v);
    return JOINED(16, ((ELEM16)((ELEM8)(NEUTRAL), v.lo)), v);
}

#define JOIN_LANES(a, b) JOINED(16, a, b)

// The first w of sixteen neighbours.
static ELEM16 load_lanes(global const X_MEMORY *p, int w) {
    if (w == 16) return X_FROM16(vload16(0, p));
    ELEM each[16];
    for (int j = 0; j < 16; j++) each[j] = j < w ? X_FROM(p[j]) : NEUTRAL;
    return vload16(0, each);
}

// The same of what comes before a share.
static ELEM16 load_carry(global const ELEM *p, int w) {
    ELEM each[16];
    for (int j = 0; j < 16; j++) each[j] = j < w ? p[j] : NEUTRAL;
    return vload16(0, each);
}

static void store_lanes(ELEM16 v, global Y_MEMORY *p, int w) {
    if (w == 16) {
        vstore16(Y_TO16(v), 0, p);
        return;
    }
    ELEM each[16];
    vstore16(v, 0, each);
    for (int j = 0; j < w; j++) p[j] = Y_TO(each[j]);
}

// Scans a row behind `start`.
static void scan_row(global const X_MEMORY *x, global Y_MEMORY *y, int n, int flags, ELEM start) {
    ELEM levels[PAIR_LEVELS], before = start, s = NEUTRAL; // of a block: what came before it, and what it came to
    int k = 0;
    for (; k + 16 <= n; k += 16) {
        const int at = flags & REVERSE ? n - 16 - k : k;
        ELEM16 v = X_FROM16(vload16(0, x + at));
        if (flags & REVERSE) v = v.sfedcba9876543210;
        v = prefix(v);
        const ELEM base = join(before, s);
        ELEM16 out = JOINED(16, (ELEM16)(base), v);
        s = join(s, v.sf);
        if (flags & EXCLUSIVE) out = (ELEM16)(base, out.lo, out.s89ab, out.scd, out.se);
        if (flags & REVERSE) out = out.sfedcba9876543210;
        vstore16(Y_TO16(out), 0, y + at);
        PAIRWISE_BY(s, levels, k / 16 + 1, join, NEUTRAL)
        NEXT_BLOCK(before, start, levels, k / 16 + 1, join, NEUTRAL)
    }
    for (; k < n; k++) {
        const int at = flags & REVERSE ? n - 1 - k : k;
        const ELEM next = join(s, X_FROM(x[at]));
        y[at] = Y_TO(join(before, flags & EXCLUSIVE ? s : next));
        s = next;
    }
}

// Scans w neighbouring columns, of n elements that are `apart`, behind `start`.
static void scan_columns(global const X_MEMORY *x, global Y_MEMORY *y, int n, int apart, int w, int flags, ELEM16 start) {
    ELEM16 s = NEUTRAL;
#ifdef BLOCKED
    ELEM16 levels[PAIR_LEVELS], before = start;
#else
    s = start;
#endif
    for (int m = 0; m < n; m++) {
        const int at = (flags & REVERSE ? n - 1 - m : m) * apart;
        const ELEM16 next = JOIN_LANES(s, load_lanes(x + at, w)), out = flags & EXCLUSIVE ? s : next;
        s = next;
#ifdef BLOCKED
        store_lanes(JOIN_LANES(before, out), y + at, w);
        PAIRWISE_BY(s, levels, m + 1, JOIN_LANES, (ELEM16)(NEUTRAL))
        NEXT_BLOCK(before, start, levels, m + 1, JOIN_LANES, (ELEM16)(NEUTRAL))
#else
        store_lanes(out, y + at, w);
#endif
    }
}
#endif

#if SCAN == SCAN_MAX || SCAN == SCAN_MIN
#if defined(OF_LONGS)
#define ELEM16 long16
#define LEAST LONG_MIN
#define GREATEST LONG_MAX
#elif defined(OF_INTS)
#define ELEM16 int16
#define LEAST INT_MIN
#define GREATEST INT_MAX
#else
#define ELEM16 REAL16
#define LEAST -INFINITY
#define GREATEST INFINITY
#endif
#define START (SCAN == SCAN_MAX ? LEAST : GREATEST)
// Whether v is the extreme where best was the one before: of equal ones the last is, and each NaN.
#define EXTREME(v, best) ((SCAN == SCAN_MAX ? (v) >= (best) : (v) <= (best)) | ((v) != (v)))

// Scans a line of n elements that are `apart`: sixteen neighbours at a time where none of them is an extreme.
static void scan_line(global const X_MEMORY *x, global Y_MEMORY *y, global INDEX *where, int n, int apart) {
    ELEM best = START;
    int place = 0;
    for (int k = 0; k < n;) {
        if (apart == 1 && k + 16 <= n && !any(EXTREME(X_FROM16(vload16(0, x + k)), (ELEM16)(best)))) {
            vstore16(Y_TO16((ELEM16)(best)), 0, y + k);
            vstore16(INDICES16((int16)(place)), 0, where + k);
            k += 16;
            continue;
        }
        for (const int end = min(n, k + 16); k < end; k++) {
            const ELEM v = X_FROM(x[k * apart]);
            if (EXTREME(v, best)) {
                best = v;
                place = k;
            }
            y[k * apart] = Y_TO(best);
            where[k * apart] = place;
        }
    }
}

// Scans sixteen neighbouring columns, of n elements that are `apart`.
static void scan_columns(global const X_MEMORY *x, global Y_MEMORY *y, global INDEX *where, int n, int apart) {
    ELEM16 best = START;
    int16 place = 0;
    for (int k = 0; k < n; k++) {
        const ELEM16 v = X_FROM16(vload16(0, x + k * apart));
        place = convert_int16(EXTREME(v, best)) ? (int16)(k) : place;
        best = EXTREME(v, best) ? v : best;
        vstore16(Y_TO16(best), 0, y + k * apart);
        vstore16(INDICES16(place), 0, where + k * apart);
    }
}
#endif

static void scan(global const X_MEMORY *X, global const X_MEMORY *Z, global const ELEM *C, global Y_MEMORY *Y, global INDEX *I, int outer, int len,
                 int inner, int chunk, int shares, int flags) {
    const int columns = (inner + 15) / 16, g = get_group_id(0), groups = get_num_groups(0);
    const long units = (long)outer * shares * columns;
    for (int u = units * g / groups; u < units * (g + 1) / groups; u++) {
        const int row = u / columns, i = u % columns * 16, begin = row % shares * chunk, n = min(len - begin, chunk);
        const int from = (row / shares * len + begin) * inner + i, w = min(16, inner - i);
#if SCAN <= SCAN_LSE
        const ELEM16 start = flags & CARRY ? load_carry(C + row * inner + i, w) : (ELEM16)(START);
        if (inner == 1) scan_row(X + from, Y + from, n, flags, start.s0);
        else scan_columns(X + from, Y + from, n, inner, w, flags, start);
#elif SCAN <= SCAN_MIN
        if (w == 16) scan_columns(X + from, Y + from, I + from, n, inner);
        else for (int j = 0; j < w; j++) scan_line(X + from + j, Y + from + j, I + from + j, n, inner);
#else
        STATE s[16];
        for (int j = 0; j < w; j++) s[j] = START;
        for (int m = 0; m < n; m++) {
            const int k = flags & REVERSE ? n - 1 - m : m;
            for (int j = 0; j < w; j++) {
                global const X_MEMORY *x = X + from + j, *z = Z + from + j;
                global Y_MEMORY *y = Y + from + j;
                const STATE next = join(s[j], LOAD(k));
                STORE(k, next);
                s[j] = next;
            }
        }
#endif
    }
}

#if SCAN <= SCAN_LSE
// Y[o, k, i] is what X[o, l, i] come to over l up to k of share s of the middle axis, [s*chunk, min(len, (s+1)*chunk)): in the
// direction, with or without k itself, and behind C[o, s, i] or not, as flags say.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_scan(IN_OF(X_MEMORY, X), IN(C), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, int chunk, int shares, int tall, int flags) {
    scan(X + X_off, X, C + C_off, Y + Y_off, 0, outer, len, inner, chunk, shares, flags);
}
#elif SCAN <= SCAN_MIN
// Y[o, k, i] is the extreme of X[o, l, i] over l up to k, I[o, k, i] its index.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_scan_arg(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), OUT_OF(INDEX, I), int outer, int len, int inner, int tall) {
    scan(X + X_off, X, 0, Y + Y_off, I + I_off, outer, len, inner, len, 1, 0);
}
#else
// Y[o, k, i] = X[o, k, i]·Y[o, k − 1, i] + Z[o, k, i], 0 being before the first; with the flag REVERSE, k + 1 and the last. With
// SHIFTED the factor is the X of where that Y is.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_scan_linear(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, Z), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, int tall, int flags) {
    scan(X + X_off, Z + Z_off, 0, Y + Y_off, 0, outer, len, inner, len, 1, flags);
}
#endif
