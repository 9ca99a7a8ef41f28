// @depends: scan
// Scans for devices that run a work-group in lockstep. Of rows, tall work-items, a power of two, share a line, SCAN_PER elements
// each at a time, by way of local memory: in registers, then between the work-items, then behind what came before. Of columns,
// a work-item has one. The order is fixed.

#ifndef SCAN_GROUP
#define SCAN_GROUP 256
#endif
#ifndef SCAN_PER
#define SCAN_PER 8
#endif

// A place between which and the next eight there is room: work-items that read eight of them each meet in no bank.
#define PLACE(i) ((i) + (i) / SCAN_PER)

static void scan(global const ELEM *X, global const ELEM *Z, global const ELEM *C, global ELEM *Y, global int *I, int outer, int len,
                 int inner, int chunk, int shares, int tall, int flags, local STATE *tile, local STATE *ends) {
    const int lid = get_local_id(0);
    if (inner > 1) {
        const int line = get_global_id(0), row = line / inner, begin = row % shares * chunk, n = min(len - begin, chunk);
        if (row >= outer * shares) return;
        const int from = (row / shares * len + begin) * inner + line % inner;
        global const ELEM *x = X + from, *z = Z + from;
        global ELEM *y = Y + from;
        global int *where = I + from;
        STATE s = START;
#if SCAN <= SCAN_LSE
        if (flags & CARRY) s = C[line];
#endif
        for (int m = 0; m < n; m++) {
            const int k = flags & REVERSE ? n - 1 - m : m;
            const STATE next = join(s, LOAD(k));
            if (flags & EXCLUSIVE) STORE(k, s);
            else STORE(k, next);
            s = next;
        }
        return;
    }
    const int t = lid % tall, row = get_group_id(0) * (SCAN_GROUP / tall) + lid / tall, begin = row % shares * chunk;
    const int here = row < outer * shares, n = here ? min(len - begin, chunk) : 0, from = here ? row / shares * len + begin : 0;
    global const ELEM *x = X + from, *z = Z + from;
    global ELEM *y = Y + from;
    global int *where = I + from;
    local STATE *mine = tile + lid / tall * (tall * (SCAN_PER + 1));
    STATE carry = START;
#if SCAN <= SCAN_LSE
    if (here && flags & CARRY) carry = C[row];
#endif
    for (int m = 0; m < min(len, chunk); m += tall * SCAN_PER) { // as often in every row: there are barriers
        for (int j = t; j < tall * SCAN_PER; j += tall) {
            const int k = flags & REVERSE ? n - 1 - m - j : m + j;
            mine[PLACE(j)] = m + j < n ? LOAD(k) : START;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        STATE own[SCAN_PER], end = START;
        for (int j = 0; j < SCAN_PER; j++) own[j] = end = join(end, mine[PLACE(t * SCAN_PER + j)]);
        ends[lid] = end;
        for (int span = 1; span < tall; span *= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (t >= span) end = join(ends[lid - span], end);
            barrier(CLK_LOCAL_MEM_FENCE);
            ends[lid] = end;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        STATE before = t > 0 ? join(carry, ends[lid - 1]) : carry;
        for (int j = 0; j < SCAN_PER; j++) {
            const STATE next = join(before, own[j]);
            mine[PLACE(t * SCAN_PER + j)] = flags & EXCLUSIVE ? (j > 0 ? join(before, own[j - 1]) : before) : next;
        }
        carry = join(carry, ends[lid - t + tall - 1]);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = t; j < tall * SCAN_PER; j += tall) {
            const int k = flags & REVERSE ? n - 1 - m - j : m + j;
            if (m + j < n) STORE(k, mine[PLACE(j)]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#if SCAN <= SCAN_LSE
// Y[o, k, i] is what X[o, l, i] come to over l up to k of share s of the middle axis, [s*chunk, min(len, (s+1)*chunk)): in the
// direction, with or without k itself, and behind C[o, s, i] or not, as flags say.
kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))
void k_scan(IN(X), IN(C), OUT(Y), int outer, int len, int inner, int chunk, int shares, int tall, int flags) {
    local STATE tile[SCAN_GROUP * (SCAN_PER + 1)], ends[SCAN_GROUP];
    scan(X + X_off, X, C + C_off, Y + Y_off, 0, outer, len, inner, chunk, shares, tall, flags, tile, ends);
}
#elif SCAN <= SCAN_MIN
// Y[o, k, i] is the extreme of X[o, l, i] over l up to k, I[o, k, i] its index.
kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))
void k_scan_arg(IN(X), OUT(Y), OUT_INTS(I), int outer, int len, int inner, int tall) {
    local STATE tile[SCAN_GROUP * (SCAN_PER + 1)], ends[SCAN_GROUP];
    scan(X + X_off, X, X, Y + Y_off, I + I_off, outer, len, inner, len, 1, tall, 0, tile, ends);
}
#else
// Y[o, k, i] = X[o, k, i]·Y[o, k − 1, i] + Z[o, k, i], 0 being before the first; with the flag REVERSE, k + 1 and the last. With
// SHIFTED the factor is the X of where that Y is.
kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))
void k_scan_linear(IN(X), IN(Z), OUT(Y), int outer, int len, int inner, int tall, int flags) {
    local STATE tile[SCAN_GROUP * (SCAN_PER + 1)], ends[SCAN_GROUP];
    scan(X + X_off, Z + Z_off, X, Y + Y_off, 0, outer, len, inner, len, 1, tall, flags, tile, ends);
}
#endif
