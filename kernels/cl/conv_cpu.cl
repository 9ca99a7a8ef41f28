// @depends: common, convolution, conv_rows, dots, memory, epilogue
// Convolutions for CPUs, without a matrix of the inputs of every output: see convolution.cl for what is computed.
//
// One work-item per work-group, and no local memory. A work-item copies what a block of positions reads into private
// memory: for each channel and tap of the first axis a plane, with the zeros of the padding in place. A stride splits
// a plane into one for each remainder of the positions by it. Then the inputs of tap (y, x) at the neighbours of a
// position are the neighbours of its input, and every tap is one offset into the planes: sixteen positions are one load,
// whatever the shape. Positions count through the rows of a plane, so that a vector may span two rows; what it has between
// them is dropped. Where that would be much, as in short rows, each tap along x has a plane of its own with nothing between.
//
// Few positions would leave most of a vector unused: there vectors are of weights of a channel, which are neighbours.
//
// Functions are not inlined: PoCL compiles the kernels in half the time, and the loops that matter are within them.

#ifndef PLANES
#define PLANES 81920 // elements of the planes
#endif
#ifndef TAPS
#define TAPS 4096 // the longest sum over the planes: its offsets are in tables
#endif
#ifndef WIDE
#define WIDE 2
#endif
#ifndef MR
#define MR 8
#endif
#define NARROW_MR 16
#define THIN_WIDE 6
#define PANEL (16 * THIN_WIDE) // the most positions that are computed at once
#define FEW_POSITIONS 8        // of a block, whose inputs are turned
#define PIXELS 256             // positions of Y that are transposed at once
#define PANEL_O 64             // channels of them

// The planes of a block of rows×cols positions from (y0, x0) on.
typedef struct {
    axis y, x;
    int y0, x0, rows, cols;
    int low_y, low_x;             // the least input position, from that of the block on
    int remainders_y, remainders_x; // planes of a stride
    int apart;                      // there is a plane for each tap along x instead
    int height, width, size;        // of a plane, and of all of them
} block;

static int lowest(axis a) { return a.shift + min(0, (a.taps - 1) * a.step); }

static int span(axis a) { return abs(a.step) * max(a.taps - 1, 0); }

// An eighth of the work is worth the planes, if many channels are written.
static NOINLINE block block_of(axis y, axis x, int y0, int x0, int rows, int cols, int written) {
    block b;
    b.y = y, b.x = x, b.y0 = y0, b.x0 = x0;
    b.rows = min(rows, y.count - y0), b.cols = min(cols, x.count - x0);
    b.low_y = lowest(y) + y0 * y.stride, b.low_x = lowest(x) + x0 * x.stride;
    b.apart = written >= 16 && 8 * (span(x) / x.stride) > min(cols, x.count);
    b.remainders_y = min(y.stride, span(y) + 1), b.remainders_x = b.apart ? x.taps : min(x.stride, span(x) + 1);
    b.height = b.rows + span(y) / y.stride, b.width = b.cols + (b.apart ? 0 : span(x) / x.stride);
    b.size = b.remainders_y * b.remainders_x * b.height * b.width;
    return b;
}

// Where the planes have the input of a tap for the first position of the block.
static NOINLINE int tap_offset(const block *b, int jy, int jx) {
    const int y = b->y.shift - lowest(b->y) + jy * b->y.step, x = b->x.shift - lowest(b->x) + jx * b->x.step;
    const int plane = y % b->y.stride * b->remainders_x + (b->apart ? jx : x % b->x.stride);
    return (plane * b->height + y / b->y.stride) * b->width + (b->apart ? 0 : x / b->x.stride);
}

// Writes the planes of one channel and tap of the first axis, whose input of height×width elements is X.
static NOINLINE void fill_planes(REAL *P, global const X_MEMORY *X, const block *b, int height, int width) {
    const int s = b->x.stride;
    for (int ry = 0; ry < b->remainders_y; ry++) {
        for (int rx = 0; rx < b->remainders_x; rx++) {
            const int x = b->apart ? b->x0 * s + b->x.shift + rx * b->x.step : b->low_x + rx; // of column 0
            const int from = min(b->width, x < 0 ? (-x + s - 1) / s : 0);
            const int to = max(from, min(b->width, x < width ? (width - x + s - 1) / s : 0));
            for (int a = 0; a < b->height; a++) {
                const int y = b->low_y + ry + a * b->y.stride;
                const int in = y >= 0 && y < height;
                for (int i = 0; i < (in ? from : b->width); i++) P[i] = 0;
                if (in) {
                    copy_run(P + from, X + y * width + x + from * s, to - from, s);
                    for (int i = to; i < b->width; i++) P[i] = 0;
                }
                P += b->width;
            }
        }
    }
}

// Adds sums to a run of a row of the output, or sets it, and adds the bias.
static void put_run(const REAL *from, global Y_MEMORY *to, int count, int spread, REAL bias, int add) {
    int i = 0;
    if (spread == 1) {
        for (; i + 16 <= count; i += 16) {
            REAL16 v = IN_MEMORY(const, REAL16, from + i) + bias;
            if (add) v += Y_LOAD16(to + i);
            Y_STORE16(v, to + i);
        }
        for (; i + 4 <= count; i += 4) {
            REAL4 v = vload4(0, from + i) + bias;
            if (add) v += Y_FROM4(vload4(0, to + i));
            vstore4(Y_TO4(v), 0, to + i);
        }
    }
    for (; i < count; i++) {
        REAL v = from[i] + bias;
        if (add) v += Y_FROM(to[i * spread]);
        to[i * spread] = Y_TO(v);
    }
}

#ifdef PUT_ROW
// Computes the map (see epilogue.cl) of one channel as put_channels stores it. Sums are held until their neighbours in Y are there.
static void put_mapped(const REAL *sums, global Y_MEMORY *Y, int at, const block *b, int a, int from, int end, int row, REAL bias,
                       int add PUT_PARAMS) {
    REAL held[PANEL + 16];
    int count = 0, first = 0; // of those held, and where they begin
    if (end <= a * b->width + b->cols && b->x.spread == 1 && !add) { // one run
        first = at + a * row + from - a * b->width;
#ifdef PUT_KEEP
        put_run(sums, Y + first, end - from, 1, bias, 0);
#endif
        for (int k = 0; k < end - from; k += 16) PUT_ROW(, IN_MEMORY(const, REAL16, sums + k) + bias, first + k, min(16, end - from - k));
        return;
    }
    for (; a * b->width < end; a++) {
        const int i = max(from, a * b->width), n = min(end, a * b->width + b->cols) - i, spread = b->x.spread;
        const int begin = at + a * row + (i - a * b->width) * spread;
        if (n <= 0) continue; // `from` is between two rows
#ifdef PUT_KEEP
        put_run(sums + i - from, Y + begin, n, spread, bias, add);
#endif
        if (spread > 1) { // each by itself
            for (int k = 0; k < n; k++) PUT_ROW(, (REAL16)(add ? Y_FROM(Y[begin + k * spread]) : sums[i - from + k] + bias), begin + k * spread, 1);
            continue;
        }
        if (first + count != begin) {
            for (int k = 0; k < count; k += 16) PUT_ROW(, IN_MEMORY(, REAL16, held + k), first + k, min(16, count - k));
            first = begin;
            count = 0;
        }
        if (add) {
            for (int k = 0; k < n; k++) held[count + k] = Y_FROM(Y[begin + k]);
        } else {
            for (int k = 0; k < n; k += 16) IN_MEMORY(, REAL16, held + count + k) = IN_MEMORY(const, REAL16, sums + i - from + k) + bias;
        }
        count += n;
    }
    for (int k = 0; k < count; k += 16) PUT_ROW(, IN_MEMORY(, REAL16, held + k), first + k, min(16, count - k));
}
#endif

// Stores the sums S[r*PANEL] of positions `from` to below `end`, which count through the rows of a plane, of `live` channels that are
// `size` apart in Y. Element `at` of Y is that of the block's first position and of the first channel, `row` elements lie from one
// row to the next.
static NOINLINE void put_channels(const REAL *S, int live, global Y_MEMORY *Y, int at, int size, const block *b, int from, int end, int row,
                                  global const X_MEMORY *bias, int add, int last PUT_PARAMS) {
    const int top = from / b->width;
#ifdef PUT_ROW
    for (int r = 0; last && r < live; r++) {
        put_mapped(S + r * PANEL, Y, at + r * size, b, top, from, end, row, bias ? X_FROM(bias[r]) : 0, add PUT_ARGS);
    }
    if (last) return;
#endif
    for (int a = top; a * b->width < end; a++) {
        const int i = max(from, a * b->width), j = min(end, a * b->width + b->cols);
        global Y_MEMORY *to = Y + at + a * row + (i - a * b->width) * b->x.spread;
        for (int r = 0; r < live; r++) put_run(S + r * PANEL + i - from, to + r * size, j - i, b->x.spread, bias ? X_FROM(bias[r]) : 0, add);
    }
}

// Weights of 16 bits become floats once for all positions of a block, those of PART channels at a time, next to each other.
#ifdef X_HALF
#define PART NARROW_MR
#define WEIGHTS const REAL
#define WEIGHT_AT(k) (k) * PART
static NOINLINE void widen_weights(REAL *V, global const X_MEMORY *W, const int *woff, int row, int live, int count) {
    for (int k = 0; k < count; k++) {
        ushort each[PART];
        for (int r = 0; r < PART; r++) each[r] = W[woff[k] + min(r, live - 1) * row];
        vstore16(X_FROM16(vload16(0, each)), k, V);
    }
}
#else
#define PART cw
#define WEIGHTS global const REAL
#define WEIGHT_AT(k) woff[k]
#endif

// R channels of V vectors of positions: S[r*PANEL + i] = Σ_k W[woff[k] + r*row]·P[poff[k] + i]. Channels past the last
// repeat it.
#define MICRO(name, R, V)                                                                                       \
    static NOINLINE void name(const REAL *P, const int *poff, WEIGHTS *W,                                       \
                                               const int *woff, int row, int live, int count, REAL *S) {        \
        REAL16 acc[R][V];                                                                                       \
        _Pragma("unroll") for (int r = 0; r < R; r++)                                                           \
            _Pragma("unroll") for (int v = 0; v < V; v++) acc[r][v] = 0;                                        \
        int at[R];                                                                                              \
        _Pragma("unroll") for (int r = 0; r < R; r++) at[r] = min(r, live - 1) * row;                           \
        for (int k = 0; k < count; k++) {                                                                       \
            const REAL *p = P + poff[k];                                                                        \
            WEIGHTS *w = W + WEIGHT_AT(k);                                                                      \
            REAL16 b[V];                                                                                        \
            _Pragma("unroll") for (int v = 0; v < V; v++) b[v] = IN_MEMORY(const, REAL16, p + 16 * v);           \
            _Pragma("unroll") for (int r = 0; r < R; r++) {                                                     \
                const REAL16 x = (REAL16)(w[at[r]]);                                                            \
                _Pragma("unroll") for (int v = 0; v < V; v++) acc[r][v] = fma(x, b[v], acc[r][v]);              \
            }                                                                                                   \
        }                                                                                                       \
        _Pragma("unroll") for (int r = 0; r < R; r++)                                                           \
            _Pragma("unroll") for (int v = 0; v < V; v++) IN_MEMORY(, REAL16, S + r * PANEL + 16 * v) = acc[r][v]; \
    }

MICRO(wide, MR, WIDE)
MICRO(narrow, NARROW_MR, 1)
MICRO(thin, 2, THIN_WIDE)
MICRO(single, 1, THIN_WIDE)
DOTS(dots_4, 4, 4, X, )
DOTS(dots_1, 8, 1, X, )

// Y from X and W, or with `transposed` X from Y and W: then X names what is read, and Y what is written. A work-item
// computes all channels of a group at rows×cols positions of a slice.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_conv_output(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, W), IN_OF(X_MEMORY, BIAS), OUT_OF(Y_MEMORY, Y), CONV_PARAMS, int transposed, int biased, int rows, int cols PUT_PARAMS) {
    REAL P[PLANES + 2 * PANEL], S[NARROW_MR * PANEL + 16];
#ifdef X_HALF
    REAL V[TAPS * PART];
#else
    REAL T[FEW_POSITIONS * TAPS];
#endif
    int poff[TAPS], woff[TAPS];
    const int n = get_group_id(1) / groups, g = get_group_id(1) % groups, phase = get_group_id(2);
    CONV_AXES(phase / (sx * sy), phase / sx % sy, phase % sx)
    CONV_SIZES
    // Strips of phase 0, which has the most positions.
    const int across = ((wx + x.spread - 1) / x.spread + cols - 1) / cols;
    const int down = ((wy + y.spread - 1) / y.spread + rows - 1) / rows;
    const int id = get_group_id(0), qz = id / (across * down);
    const int y0 = id / across % down * rows, x0 = id % across * cols;
    if (qz >= z.count || y0 >= y.count || x0 >= x.count) return;

    const int cr = transposed ? co : ci, cw = transposed ? ci : co; // channels that are read and written
    const block b = block_of(y, x, y0, x0, rows, cols, cw);
    const int2 taps_z = axis_within(z, qz, rz);
    const int planes = taps_z.s1 - taps_z.s0, taps = planes * y.taps * x.taps;
    const int kernel_size = kz * ky * kx;
    const int w_read = transposed ? ci * kernel_size : kernel_size, w_written = transposed ? kernel_size : ci * kernel_size;
    global const X_MEMORY *in = X + X_off + (n * groups + g) * cr * rz * ry * rx;
    global const X_MEMORY *weights = W + W_off + g * co * ci * kernel_size;
    const int out_size = wz * wy * wx;
    const int out = (n * groups + g) * cw * out_size
                    + ((qz * z.spread + z.first) * wy + y0 * y.spread + y.first) * wx + x0 * x.spread + x.first;

    const int most = taps == 0 ? cr : max(1, min(PLANES / (planes * b.size), TAPS / taps));
    const int length = (b.rows - 1) * b.width + b.cols;
    for (int c0 = 0; c0 == 0 || c0 < cr; c0 += most) {
        const int channels = min(most, cr - c0);
        int count = 0;
        for (int jz = taps_z.s0; jz < taps_z.s1 && taps > 0; jz++) { // of the first channel
            for (int jy = 0; jy < y.taps; jy++) {
                for (int jx = 0; jx < x.taps; jx++) {
                    poff[count] = (jz - taps_z.s0) * b.size + tap_offset(&b, jy, jx);
                    woff[count++] = c0 * w_read + ((z.r + jz * z.rstep) * ky + y.r + jy * y.rstep) * kx + x.r + jx * x.rstep;
                }
            }
        }
        for (int c = 0; c < channels && taps > 0; c++) {
            for (int jz = taps_z.s0; jz < taps_z.s1; jz++) {
                const int at = (c * planes + jz - taps_z.s0) * b.size, from = qz * z.stride + z.shift + jz * z.step;
                fill_planes(P + at, in + ((c0 + c) * rz + from) * ry * rx, &b, ry, rx);
            }
            for (int i = 0; c > 0 && i < taps; i++, count++) {
                poff[count] = poff[count - taps] + planes * b.size;
                woff[count] = woff[count - taps] + w_read;
            }
        }
#ifdef X_HALF
        const int few = 0;
#else
        // The weights of a channel are neighbours where no tap is left out.
        const int few = length <= FEW_POSITIONS && !transposed && planes == kz && count >= 16;
        const int turned = length == 1 ? 1 : (length + 3) / 4 * 4;
        for (int i = 0; few && i < turned; i++) {
            const REAL *p = P + min(i, length - 1);
            for (int k = 0; k < count; k++) T[i * count + k] = p[poff[k]];
        }
#endif
        for (int i = 0; i < 2 * PANEL && taps > 0; i++) P[channels * planes * b.size + i] = 0; // what the last vectors read
        for (int part = 0; part < cw; part += PART) {
            const int past = min(cw, part + PART);
#ifdef X_HALF
            widen_weights(V, weights + part * w_written, woff, w_written, past - part, count);
#endif
            // Vectors of all positions but an odd last one, and then that. Stores of a few channels follow each other.
            for (int begin = 0, limit; begin < length; begin = limit) {
                const int vectors = (length - begin + 15) / 16;
                const int way = cw <= 2 ? 0 : vectors == 1 ? 1 : 2;
                const int step = few ? (length == 1 ? 8 : 4) : way == 0 ? 2 : way == 1 ? NARROW_MR : MR;
                const int done = 16 * (way == 0 ? THIN_WIDE : way == 1 ? 1 : WIDE);
                limit = way == 2 ? min(length, begin + max(1, vectors / WIDE) * done) : length;
                for (int o = part; o < past; o += step) {
                    const int live = min(step, past - o);
#ifdef X_HALF
                    const REAL *w = V + o - part;
                    const int apart = 1;
#else
                    global const REAL *w = weights + o * w_written;
                    const int apart = w_written;
#endif
                    for (int from = begin; from < limit; from += done) {
#ifndef X_HALF
                        if (few && length == 1) dots_1(w + woff[0], w_written, live, T, count, count, S, PANEL, 1);
                        else if (few)
                            for (int i = 0; i < length; i += 4)
                                dots_4(w + woff[0], w_written, live, T + i * count, count, count, S + i, PANEL, 1);
                        else
#endif
                        if (cw == 1) single(P + from, poff, w, woff, apart, live, count, S);
                        else if (way == 0) thin(P + from, poff, w, woff, apart, live, count, S);
                        else if (way == 1) narrow(P + from, poff, w, woff, apart, live, count, S);
                        else wide(P + from, poff, w, woff, apart, live, count, S);
                        put_channels(S, live, Y + Y_off, out + o * out_size, out_size, &b,
                                     from, min(limit, from + done), y.spread * wx,
                                     biased && c0 == 0 ? BIAS + BIAS_off + g * cw + o : 0, c0 > 0, c0 + most >= cr PUT_ARGS);
                    }
                }
            }
        }
    }
}

// T[i*width + o] = G[o*size + at(i)] for the positions i of a block, zero for o from `live` to width.
static NOINLINE void transpose_block(REAL *T, global const X_MEMORY *G, const block *b, int ox, int size, int live, int width) {
    for (int a = 0; a < b->rows; a++) {
        global const X_MEMORY *row = G + a * ox;
        REAL *t = T + a * b->cols * width;
        int o = 0;
        for (; o + 4 <= live; o += 4) {
            global const X_MEMORY *r0 = row + o * size, *r1 = r0 + size, *r2 = r1 + size, *r3 = r2 + size;
            int i = 0;
            for (; i + 4 <= b->cols; i += 4) {
                const REAL4 e = X_FROM4(vload4(0, r0 + i)), f = X_FROM4(vload4(0, r1 + i));
                const REAL4 g = X_FROM4(vload4(0, r2 + i)), h = X_FROM4(vload4(0, r3 + i));
                REAL *to = t + i * width + o;
                vstore4((REAL4)(e.s0, f.s0, g.s0, h.s0), 0, to);
                vstore4((REAL4)(e.s1, f.s1, g.s1, h.s1), 0, to + width);
                vstore4((REAL4)(e.s2, f.s2, g.s2, h.s2), 0, to + 2 * width);
                vstore4((REAL4)(e.s3, f.s3, g.s3, h.s3), 0, to + 3 * width);
            }
            for (; i < b->cols; i++) vstore4(X_FROM4((X_MEMORY4)(r0[i], r1[i], r2[i], r3[i])), 0, t + i * width + o);
        }
        for (; o < live; o++) {
            for (int i = 0; i < b->cols; i++) t[i * width + o] = X_FROM(row[o * size + i]);
        }
        for (; o < width; o++) {
            for (int i = 0; i < b->cols; i++) t[i * width + o] = 0;
        }
    }
}

// R weights by V vectors of channels: adds Σ P[poff[r] + a*stride + i]·T[(a*cols + i)*16*V + o] over the positions to
// D[doff[r] + o], or sets it. Weights past the last repeat it.
#define MICRO_WEIGHT(name, R, V)                                                                              \
    static NOINLINE void name(const REAL *P, const int *poff, int live, const REAL *T,       \
                                               int rows, int cols, int stride, global REAL *D,                \
                                               const int *doff, int width, int add) {                         \
        REAL16 acc[R][V];                                                                                     \
        _Pragma("unroll") for (int r = 0; r < R; r++)                                                         \
            _Pragma("unroll") for (int v = 0; v < V; v++) acc[r][v] = 0;                                      \
        int at[R];                                                                                            \
        _Pragma("unroll") for (int r = 0; r < R; r++) at[r] = poff[min(r, live - 1)];                         \
        for (int a = 0; a < rows; a++) {                                                                      \
            for (int i = 0; i < cols; i++) {                                                                  \
                const REAL *p = P + a * stride + i, *t = T + (a * cols + i) * 16 * V;                         \
                REAL16 b[V];                                                                                  \
                _Pragma("unroll") for (int v = 0; v < V; v++) b[v] = vload16(v, t);                           \
                _Pragma("unroll") for (int r = 0; r < R; r++) {                                               \
                    const REAL16 x = (REAL16)(p[at[r]]);                                                      \
                    _Pragma("unroll") for (int v = 0; v < V; v++) acc[r][v] = fma(x, b[v], acc[r][v]);        \
                }                                                                                             \
            }                                                                                                 \
        }                                                                                                     \
        _Pragma("unroll") for (int r = 0; r < R; r++) {                                                       \
            if (r >= live) continue;                                                                          \
            _Pragma("unroll") for (int v = 0; v < V; v++) add16(acc[r][v], D + doff[r] + 16 * v, width - 16 * v, add); \
        }                                                                                                     \
    }

// Adds up to 16 elements, or sets them.
static NOINLINE void add16(REAL16 v, global REAL *d, int count, int add) {
    if (count >= 16) {
        if (add) v += vload16(0, d);
        vstore16(v, 0, d);
        return;
    }
    REAL part[16];
    vstore16(v, 0, part);
    for (int j = 0; j < count; j++) d[j] = add ? d[j] + part[j] : part[j];
}

MICRO_WEIGHT(weight_64, 6, 4)
MICRO_WEIGHT(weight_32, 12, 2)
MICRO_WEIGHT(weight_16, 12, 1)

#define FEW 4 // channels of a group, at most, whose weights are summed along positions
#define FEW_WEIGHTS 5

// FEW_WEIGHTS weights of one channel: adds Σ P[poff[r] + a*stride + i]·G[a*apart + i] over the positions to D[doff[r]], or sets it.
static NOINLINE void weights_of_one(const REAL *P, const int *poff, int live, global const X_MEMORY *G, int apart,
                                                     int rows, int cols, int stride, global REAL *D, const int *doff, int add) {
    REAL16 acc[FEW_WEIGHTS];
    REAL rest[FEW_WEIGHTS], part[16];
    int at[FEW_WEIGHTS];
    _Pragma("unroll") for (int r = 0; r < FEW_WEIGHTS; r++) acc[r] = 0, rest[r] = 0, at[r] = poff[min(r, live - 1)];
    for (int a = 0; a < rows; a++) {
        global const X_MEMORY *g = G + a * apart;
        const REAL *p = P + a * stride;
        int i = 0;
        for (; i + 16 <= cols; i += 16) {
            const REAL16 by = X_FROM16(vload16(0, g + i));
            _Pragma("unroll") for (int r = 0; r < FEW_WEIGHTS; r++) acc[r] = fma(vload16(0, p + at[r] + i), by, acc[r]);
        }
        for (; i < cols; i++) {
            _Pragma("unroll") for (int r = 0; r < FEW_WEIGHTS; r++) rest[r] = fma(p[at[r] + i], X_FROM(g[i]), rest[r]);
        }
    }
    for (int r = 0; r < live; r++) {
        REAL sum = rest[r];
        vstore16(acc[r], 0, part);
        for (int j = 0; j < 16; j++) sum += part[j];
        D[doff[r]] = add ? D[doff[r]] + sum : sum;
    }
}

// The sum of n neighbours.
static NOINLINE REAL sum_of(global const X_MEMORY *p, int n) {
    REAL16 v = 0;
    REAL sum = 0, part[16];
    int i = 0;
    for (; i + 16 <= n; i += 16) v += X_FROM16(vload16(0, p + i));
    vstore16(v, 0, part);
    for (int j = 0; j < 16; j++) sum += part[j];
    for (; i < n; i++) sum += X_FROM(p[i]);
    return sum;
}

// D[((s*groups + g)*(ci*kernel + biased) + k)*co + o] is the part s of the gradient of weight k, which counts channels and
// taps, of output o: the sum over rows [s*slice, (s+1)*slice) of G, which counts images, oz and oy. X is the input, G the
// gradient of Y. If `biased` is 1, the last k is the bias.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_conv_weight(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, G), OUT(D), CONV_PARAMS, int slice, int biased) {
    REAL P[PLANES], T[PIXELS * PANEL_O];
    int poff[TAPS], doff[TAPS];
    const int g = get_group_id(0), s = get_group_id(1), kernel_size = kz * ky * kx;
    const axis z = axis_forward(oz, kz, sz, dz, pz), y = axis_forward(oy, ky, sy, dy, py), x = axis_forward(ox, kx, sx, dx, px);
    const int cols = min(ox, PIXELS), rows_most = max(1, PIXELS / cols), size = oz * oy * ox;
    global REAL *D0 = D + D_off + (s * groups + g) * (ci * kernel_size + biased) * co;
    const int begin = s * slice, finish = min(batch * oz * oy, begin + slice);
    for (int o = 0; o < co * biased; o++) {
        REAL sum = 0;
        for (int row = begin; row < finish;) { // the rows of an image are neighbours
            const int n = row / (oz * oy), q = row % (oz * oy), rows = min(finish - row, oz * oy - q);
            sum += sum_of(G + G_off + ((n * groups + g) * co + o) * size + q * ox, rows * ox);
            row += rows;
        }
        D0[ci * kernel_size * co + o] = sum;
    }
    const block whole = block_of(y, x, 0, 0, rows_most, cols, 0);
    // One tap of the first axis at a time, for as many channels as fit.
    const int taps = ky * kx, most = max(1, min(PLANES / whole.size, TAPS / taps));
    for (int jz = 0; jz < kz; jz++) {
        for (int c0 = 0; c0 < ci; c0 += most) {
            const int channels = min(most, ci - c0);
            int add = 0;
            for (int row = begin; row < finish;) {
                const int n = row / (oz * oy), qz = row / oy % oz, y0 = row % oy;
                const int rows = min(min(rows_most, oy - y0), finish - row);
                const int from = qz * sz - pz + jz * dz;
                row += rows;
                if (from < 0 || from >= iz) continue;
                for (int x0 = 0; x0 < ox; x0 += cols) {
                    block b = block_of(y, x, y0, x0, rows, cols, 0);
                    global const X_MEMORY *in = X + X_off + (((n * groups + g) * ci + c0) * iz + from) * iy * ix;
                    for (int c = 0; c < channels; c++) {
                        fill_planes(P + c * b.size, in + c * iz * iy * ix, &b, iy, ix);
                        for (int t = 0; t < taps; t++) {
                            poff[c * taps + t] = c * b.size + tap_offset(&b, t / kx, t % kx);
                            doff[c * taps + t] = ((c0 + c) * kernel_size + jz * taps + t) * co;
                        }
                    }
                    global const X_MEMORY *gradient = G + G_off + (n * groups + g) * co * size + (qz * oy + y0) * ox + x0;
                    for (int o = 0; co <= FEW && o < co; o++) {
                        for (int t = 0; t < channels * taps; t += FEW_WEIGHTS) {
                            const int some = min(FEW_WEIGHTS, channels * taps - t);
                            weights_of_one(P, poff + t, some, gradient + o * size, ox, b.rows, b.cols, b.width, D0 + o, doff + t, add);
                        }
                    }
                    for (int o = 0; co > FEW && o < co; o += PANEL_O) {
                        const int live = min(PANEL_O, co - o);
                        const int vectors = live > 32 ? 4 : live > 16 ? 2 : 1, step = vectors == 4 ? 6 : 12;
                        transpose_block(T, gradient + o * size, &b, ox, size, live, 16 * vectors);
                        for (int t = 0; t < channels * taps; t += step) {
                            const int some = min(step, channels * taps - t), *p = poff + t, *d = doff + t;
                            if (vectors == 4) weight_64(P, p, some, T, b.rows, b.cols, b.width, D0 + o, d, live, add);
                            else if (vectors == 2) weight_32(P, p, some, T, b.rows, b.cols, b.width, D0 + o, d, live, add);
                            else weight_16(P, p, some, T, b.rows, b.cols, b.width, D0 + o, d, live, add);
                        }
                    }
                    add = 1;
                }
            }
            if (!add) { // no row of the slice meets the tap
                for (int c = 0; c < channels; c++) {
                    for (int i = 0; i < taps * co; i++) D0[((c0 + c) * kernel_size + jz * taps) * co + i] = 0;
                }
            }
        }
    }
}
