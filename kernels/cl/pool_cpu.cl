// @depends: common, pool, memory, epilogue
// Pooling for CPUs: see pool.cl. A work-item computes a run of rows of the result, each tap of the windows for the whole row, in
// loops that the compiler makes vectors of. Sums have the order that they have on GPUs. Where a map of the result is computed (see
// epilogue.cl), or it is of 16 bits, rows are a work-item's own until there are some.

#ifdef PUT_ROW
#define STORE_ROW(result, v, at, count) PUT_ROW(, v, at, count)
#elif defined(Y_HALF)
#define STORE_ROW(result, v, at, count) store_row(v, result + result##_off + (at), count)
static void store_row(REAL16 v, global Y_MEMORY *p, int count) {
    const ushort16 all = Y_TO16(v);
    ushort each[16];
    if (count == 16) {
        vstore16(all, 0, p);
        return;
    }
    vstore16(all, 0, each);
    for (int i = 0; i < count; i++) p[i] = each[i];
}
#endif

#ifdef STORE_ROW
#define LONGEST 1024 // elements of its own rows, at most: poolLongest of internal/ops/stores.go
#define ROW private REAL
#define OWN_ROWS            \
    REAL own[LONGEST + 16]; \
    int held = 0;
#define ROW_OF(result, n) own + held
#ifdef PUT_KEEP
#define KEEP_ROW(result, n) for (int x = 0; x < (n); x++) result[result##_off + row * (n) + x] = Y_TO(own[held + x]);
#else
#define KEEP_ROW(result, n)
#endif
#define PUT_WHOLE(result, n)                                                                                              \
    KEEP_ROW(result, n)                                                                                                   \
    held += n;                                                                                                            \
    if (held + (n) > LONGEST || row + 1 == past) {                                                                        \
        for (int x = 0; x < held; x += 16)                                                                                \
            STORE_ROW(result, vload16(0, own + x), (row + 1) * (n) - held + x, min(16, held - x));                        \
        held = 0;                                                                                                         \
    }
#else
#define ROW global REAL
#define OWN_ROWS
#define ROW_OF(result, n) result + result##_off + row * (n)
#define PUT_WHOLE(result, n)
#endif

// F of a run of `rows`; of a tensor [outer, nz, ny], row is that of z and y in o.
#define EACH_ROW(nz, ny, F)                                                                  \
    const int rows = outer * nz * ny, groups = get_num_groups(0);                            \
    const int per = (rows + groups - 1) / groups, start = get_group_id(0) * per;             \
    const int past = min(rows, start + per);                                                 \
    for (int row = start; row < past; row++) {                                               \
        const int y = row % ny, z = row / ny % nz, o = row / ny / nz;                        \
        F                                                                                    \
    }

// The windows of outputs z and y.
#define ROW_WINDOWS                                                                          \
    const window wz = window_of(z, iz, oz, KZ, SZ, DZ, PZ, ADAPTIVE);                        \
    const window wy = window_of(y, iy, oy, KY, SY, DY, PY, ADAPTIVE);

// F for each of the inputs fz and fy of these windows that lie within X.
#define EACH_PLACE(F)                                                                        \
    for (int jz = 0; jz < wz.taps; jz++) {                                                   \
        const int fz = wz.first + jz * wz.step;                                              \
        if (fz < 0 || fz >= iz) continue;                                                    \
        for (int jy = 0; jy < wy.taps; jy++) {                                               \
            const int fy = wy.first + jy * wy.step;                                          \
            if (fy < 0 || fy >= iy) continue;                                                \
            F                                                                                \
        }                                                                                    \
    }

// F for each adaptive window along x: output x has the columns from `first` to below `last`. It divides once.
#define EACH_ADAPTIVE(F)                                                                     \
    for (int x = 0, first = 0, over = 0, step = ix / ox, rest = ix % ox; x < ox; x++) {      \
        const int carry = over + rest >= ox, next = first + step + carry;                    \
        over += rest - (carry ? ox : 0);                                                     \
        const int last = next + (over > 0);                                                  \
        F                                                                                    \
        first = next;                                                                        \
    }

#ifdef REAL_IS_DOUBLE
#define MASK long4
#define MASK4(m) convert_long4(m)
#else
#define MASK int4
#define MASK4(m) (m)
#endif

// Windows are pairs of columns side by side.
#define PAIRED (!ADAPTIVE && KX == 2 && SX == 2 && DX == 1 && PX == 0)

// The outputs from s0 to below s1 of a row whose windows, which are not adaptive, have tap j within X.
static int2 outputs_with(int j, int ix, int ox, int kx, int sx, int dx, int px) {
    const int left = px - j * dx, right = ix - 1 + left;
    return (int2)(left > 0 ? (left + sx - 1) / sx : 0, right < 0 ? 0 : min(ox, right / sx + 1));
}
#define OUTPUTS_WITH(j) outputs_with(j, ix, ox, KX, SX, DX, PX)

// The column of X that tap j of output x is.
#define TAP(x, j) ((x) * SX - PX + (j) * DX)

// Takes the inputs of two columns, from `from` on, into the maxima of so many windows beside each other, and returns how many it took.
// `at` is the place of the first, whose bits say which are taken: it has no branch.
static int max_pairs(global const X_MEMORY *from, int at, int indices, ROW *to, global int *places, int pairs) {
    int q = 0;
    for (; q + 4 <= pairs; q += 4) {
        const REAL8 both = X_FROM8(vload8(0, from + 2 * q));
        const REAL4 a = both.even, b = both.odd;
        REAL4 m = vload4(0, to + q);
        if (indices) {
            int4 p = vload4(0, places + q);
            const int4 left = at + 2 * q + (int4)(0, 2, 4, 6);
            MASK take = MASK4(p < 0) | (a > m) | isnan(a);
            m = select(m, a, take);
            p = select(p, left, convert_int4(take));
            take = (b > m) | isnan(b);
            m = select(m, b, take);
            vstore4(select(p, left + 1, convert_int4(take)), 0, places + q);
        } else {
            m = select(m, a, (a > m) | isnan(a));
            m = select(m, b, (b > m) | isnan(b));
        }
        vstore4(m, 0, to + q);
    }
    return q;
}

// The largest of the elements of a window that were seen, and its place, or −1: the first of equal ones; of NaNs, which win, the
// last. Each of four lanes has seen some in their order.
typedef struct {
    REAL4 lanes;
    int4 places;
} widest;

// Joins `count` elements from `from` on, of which the first is at place `at`, to the largest.
static widest join_run(widest w, global const X_MEMORY *from, int at, int count) {
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        const REAL4 v = X_FROM4(vload4(0, from + i));
        const MASK take = MASK4(w.places < 0) | (v > w.lanes) | isnan(v);
        w.lanes = select(w.lanes, v, take);
        w.places = select(w.places, at + i + (int4)(0, 1, 2, 3), convert_int4(take));
    }
    for (; i < count; i++) {
        const REAL v = X_FROM(from[i]);
        const int take = (w.places.s0 < 0) | (v > w.lanes.s0) | isnan(v);
        w.lanes.s0 = take ? v : w.lanes.s0;
        w.places.s0 = take ? at + i : w.places.s0;
    }
    return w;
}

// The largest of all lanes, and its place.
static REAL joined(widest w, int *place) {
    REAL v[4];
    int p[4];
    vstore4(w.lanes, 0, v);
    vstore4(w.places, 0, p);
    for (int k = 1; k < 4; k++) {
        const int greater = !isnan(v[0]) & ((v[k] > v[0]) | ((v[k] == v[0]) & (p[k] < p[0])));
        const int later = isnan(v[k]) ? !isnan(v[0]) | (p[k] > p[0]) : greater;
        if ((p[k] < 0) | ((p[0] >= 0) & !later)) continue;
        v[0] = v[k];
        p[0] = p[k];
    }
    *place = p[0];
    return v[0];
}

// Y is the largest of a window, and I, if `indices`, its place in [iz, iy, ix]: the first of equal ones; of NaNs, which win,
// the last.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_max_pool(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), OUT_INTS(I), POOL_PARAMS, int indices PUT_PARAMS) {
    OWN_ROWS
    EACH_ROW(oz, oy, {
        ROW *restrict to = ROW_OF(Y, ox);
        global int *restrict places = I + I_off + (indices ? row * ox : 0);
        ROW_WINDOWS
        if (ADAPTIVE) {
            EACH_ADAPTIVE({
                widest w;
                w.lanes = -INFINITY;
                w.places = -1;
                EACH_PLACE({
                    const int at = (fz * iy + fy) * ix + first;
                    w = join_run(w, X + X_off + o * iz * iy * ix + at, at, last - first);
                })
                int place;
                to[x] = joined(w, &place);
                if (indices) places[x] = place;
            })
            PUT_WHOLE(Y, ox)
            continue;
        }
        for (int x = 0; x < ox; x++) to[x] = -INFINITY;
        for (int x = 0; indices && x < ox; x++) places[x] = -1;
        EACH_PLACE({
            const int at = (fz * iy + fy) * ix;
            global const X_MEMORY *restrict from = X + X_off + o * iz * iy * ix + at;
            const int done = PAIRED ? max_pairs(from, at, indices, to, places, min(ox, ix / 2)) : 0;
            for (int j = 0; j < KX; j++) {
                int2 with = OUTPUTS_WITH(j);
                with.s0 = max(with.s0, done);
                if (indices) {
                    for (int x = with.s0; x < with.s1; x++) {
                        const int c = TAP(x, j);
                        const REAL v = X_FROM(from[c]);
                        const int take = (places[x] < 0) | (v > to[x]) | isnan(v);
                        to[x] = take ? v : to[x];
                        places[x] = take ? at + c : places[x];
                    }
                } else {
                    for (int x = with.s0; x < with.s1; x++) {
                        const int c = TAP(x, j);
                        const REAL v = X_FROM(from[c]);
                        to[x] = (v > to[x]) | isnan(v) ? v : to[x];
                    }
                }
            }
        })
        PUT_WHOLE(Y, ox)
    })
}

// Adds the gradients of outputs to the two inputs of their windows, which begin with a row's first, at place `self`, and returns
// how many outputs it took. It has no branch: which row of a window has its maximum cannot be guessed.
static int add_pairs(global const int *places, global const X_MEMORY *from, ROW *to, int self, int pairs) {
    int q = 0;
    for (; q + 4 <= pairs; q += 4) {
        const int4 left = vload4(0, places + q) - (self + 2 * q) - (int4)(0, 2, 4, 6);
        const REAL4 g = X_FROM4(vload4(0, from + q)), a = MASK4(left == 0) ? g : 0, b = MASK4(left == 1) ? g : 0;
        vstore8(vload8(0, to + 2 * q) + (REAL8)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3), 0, to + 2 * q);
    }
    return q;
}

// D is the sum of G over the outputs whose I names the input.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_max_pool_grad(IN_OF(X_MEMORY, G), IN_INTS(I), OUT_OF(Y_MEMORY, D), POOL_PARAMS PUT_PARAMS) {
    OWN_ROWS
    EACH_ROW(iz, iy, {
        ROW *restrict to = ROW_OF(D, ix);
        for (int x = 0; x < ix; x++) to[x] = 0;
        const int self = (z * iy + y) * ix;
        const int2 qz = outputs_of(z, iz, oz, KZ, SZ, DZ, PZ, ADAPTIVE);
        const int2 qy = outputs_of(y, iy, oy, KY, SY, DY, PY, ADAPTIVE);
        for (int a = qz.s0; a < qz.s1; a++) {
            for (int b = qy.s0; b < qy.s1; b++) {
                const int at = ((o * oz + a) * oy + b) * ox;
                global const int *restrict places = I + I_off + at;
                global const X_MEMORY *restrict from = G + G_off + at;
                for (int q = PAIRED ? add_pairs(places, from, to, self, ix / 2) : 0; q < ox; q++) {
                    const uint x = places[q] - self;
                    if (x < (uint)ix) to[x] += X_FROM(from[q]);
                }
            }
        }
        PUT_WHOLE(D, ix)
    })
}

#define COLUMNS 256 // that are added up at a time

// Y is the sum of a window over the divisor, or if that is 0 over the inputs that are counted. Adaptive windows add rows up first.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_avg_pool(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), POOL_PARAMS, int padding, int divisor PUT_PARAMS) {
    OWN_ROWS
    EACH_ROW(oz, oy, {
        ROW *restrict to = ROW_OF(Y, ox);
        for (int x = 0; x < ox; x++) to[x] = 0;
        ROW_WINDOWS
        for (int begin = 0; ADAPTIVE && begin < ix; begin += COLUMNS) {
            const int n = min(COLUMNS, ix - begin);
            REAL sums[COLUMNS];
            for (int i = 0; i < n; i++) sums[i] = 0;
            EACH_PLACE({
                global const X_MEMORY *restrict from = X + X_off + ((o * iz + fz) * iy + fy) * ix + begin;
                for (int i = 0; i < n; i++) sums[i] += X_FROM(from[i]);
            })
            EACH_ADAPTIVE({
                REAL sum = 0;
                for (int i = max(first - begin, 0); i < min(last - begin, n); i++) sum += sums[i];
                to[x] += sum;
            })
        }
        if (!ADAPTIVE) EACH_PLACE({
            global const X_MEMORY *restrict from = X + X_off + ((o * iz + fz) * iy + fy) * ix;
            for (int j = 0; j < KX; j++) {
                const int2 with = OUTPUTS_WITH(j);
                for (int x = with.s0; x < with.s1; x++) {
                    to[x] += X_FROM(from[TAP(x, j)]);
                }
            }
        })
        const REAL lines = counted(wz, iz, PZ, padding) * counted(wy, iy, PY, padding);
        for (int x = 0; x < ox; x++) {
            const window wx = window_of(x, ix, ox, KX, SX, DX, PX, ADAPTIVE);
            to[x] /= divisor > 0 ? divisor : lines * counted(wx, ix, PX, padding);
        }
        PUT_WHOLE(Y, ox)
    })
}

// D is the sum of G over the divisors of the outputs in whose windows the input is. Of the outputs that an input has in a row,
// those whose last taps it is come first: they are in ascending order.
#define CHUNK 64
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_avg_pool_grad(IN_OF(X_MEMORY, G), OUT_OF(Y_MEMORY, D), POOL_PARAMS, int padding, int divisor PUT_PARAMS) {
    OWN_ROWS
    EACH_ROW(iz, iy, {
        ROW *restrict to = ROW_OF(D, ix);
        for (int x = 0; x < ix; x++) to[x] = 0;
        const int2 qz = outputs_of(z, iz, oz, KZ, SZ, DZ, PZ, ADAPTIVE);
        const int2 qy = outputs_of(y, iy, oy, KY, SY, DY, PY, ADAPTIVE);
        for (int a = qz.s0; a < qz.s1; a++) {
            const window wz = window_of(a, iz, oz, KZ, SZ, DZ, PZ, ADAPTIVE);
            for (int b = qy.s0; b < qy.s1; b++) {
                const window wy = window_of(b, iy, oy, KY, SY, DY, PY, ADAPTIVE);
                const REAL lines = counted(wz, iz, PZ, padding) * counted(wy, iy, PY, padding);
                global const X_MEMORY *restrict from = G + G_off + ((o * oz + a) * oy + b) * ox;
                if (ADAPTIVE) {
                    EACH_ADAPTIVE({
                        const REAL each = X_FROM(from[x]) / (divisor > 0 ? divisor : lines * (last - first));
                        for (int c = first; c < last; c++) to[c] += each;
                    })
                    continue;
                }
                for (int first = 0; first < ox; first += CHUNK) {
                    const int end = min(ox, first + CHUNK);
                    REAL chunk[CHUNK];
                    for (int x = first; x < end; x++) {
                        const window wx = window_of(x, ix, ox, KX, SX, DX, PX, ADAPTIVE);
                        chunk[x - first] = X_FROM(from[x]) / (divisor > 0 ? divisor : lines * counted(wx, ix, PX, padding));
                    }
                    for (int j = KX - 1; j >= 0; j--) {
                        const int2 with = OUTPUTS_WITH(j);
                        for (int x = max(first, with.s0); x < min(end, with.s1); x++) {
                            to[TAP(x, j)] += chunk[x - first];
                        }
                    }
                }
            }
        }
        PUT_WHOLE(D, ix)
    })
}
