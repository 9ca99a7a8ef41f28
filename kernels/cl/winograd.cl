// @depends: common, vector, memory
// Convolutions of two axes on CPUs by Winograd's minimal filtering: a tile of M×M outputs of R×R taps, M = 7 − R, comes of 36
// products, where by itself it would take M²·R². With a transform of the weights, U, the products of all channels are 36
// matrix products, a plane each:
//
//	Y = Aᵀ·[U ⊙ (Bᵀ·X·B)]·A,  U = G·W·Gᵀ       and       ∂W = Gᵀ·[(A·∂Y·Aᵀ) ⊙ (Bᵀ·X·B)]·G
//
// for the points 0, 1, −1, 2, −1/2 and infinity, whose errors are about those of sums in order. Sources: Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2015; Barabasz et al., "Error Analysis and Improving the Accuracy of
// Winograd Convolution for Deep Neural Networks", 2018, for the points.
//
// One work-item per work-group, and no local memory. A work-item has a block of rows×cols tiles of one image, whose planes
// stay in the cache next to its core. The lanes of vectors are channels, in multiples of 16, so that every load is of
// neighbours: values are turned once, pixel by pixel. Sums have one order: the same input gives the same bits. What is off is
// off by the largest values of a tile, not by those that an output depends on.

#ifndef R
#define R 3 // taps along each axis, 3 or 5
#endif
#ifndef TILES
#define TILES 52 // of a block, at most; a multiple of 4
#endif
#ifndef PIXELS
#define PIXELS 57344 // values of a block and what its taps reach, of all channels
#endif
#ifndef PLANES
#define PLANES 119808 // values in the planes of a block, of all channels: 36·52·64
#endif
#define M (7 - R)
#define A 6 // values along each axis of a tile that is transformed
#define P (A * A)
#define WIDE 32 // channels that products are of at a time
#define WHOLE(n) (((n) + 15) / 16 * 16)

// Bᵀ: 6 values of 6, `step` apart, in place.
static void input_values(REAL16 *v, int step) {
    const REAL16 x0 = v[0], x1 = v[step], x2 = v[2 * step], x3 = v[3 * step], x4 = v[4 * step], x5 = v[5 * step];
    v[0] = fma((REAL16)(1.5f), x1 - x3, fma((REAL16)(-2.f), x2, x0 + x4));
    v[step] = fma((REAL16)(-2.5f), x2, fma((REAL16)(-.5f), x3, x4 - x1));
    v[2 * step] = fma((REAL16)(-2.5f), x3, fma((REAL16)(.5f), x2, x4 + x1));
    v[3 * step] = fma((REAL16)(.5f), x3 - x1, x4 - x2);
    v[4 * step] = fma((REAL16)(2.f), x1 - x3, x4 - x2);
    v[5 * step] = fma((REAL16)(1.5f), x2 - x4, fma((REAL16)(-2.f), x3, x1 + x5));
}

// x[0] + p·x[step] + … of n values.
static REAL16 horner(const REAL16 *x, int n, int step, REAL p) {
    REAL16 s = x[(n - 1) * step];
    _Pragma("unroll") for (int i = n - 2; i >= 0; i--) s = fma((REAL16)(p), s, x[i * step]);
    return s;
}

// A: 6 values of n outputs, in place; `scaled`, G: 6 of n taps.
static void point_values(REAL16 *v, int n, int step, int scaled) {
    const REAL16 one = horner(v, n, step, 1), less = horner(v, n, step, -1), two = horner(v, n, step, 2),
                 less_half = horner(v, n, step, -.5f);
    v[5 * step] = v[(n - 1) * step];
    v[step] = scaled ? one / -3 : one;
    v[2 * step] = scaled ? less / 3 : less;
    v[3 * step] = scaled ? two / 15 : two;
    v[4 * step] = scaled ? less_half * 16 / -15 : less_half;
}

// Aᵀ: n outputs of 6 values, in place; `scaled`, Gᵀ: n taps of 6.
static void point_sums(REAL16 *v, int n, int step, int scaled) {
    REAL16 x[A];
    _Pragma("unroll") for (int a = 0; a < A; a++) x[a] = v[a * step];
    if (scaled) {
        x[1] /= -3;
        x[2] /= 3;
        x[3] /= 15;
        x[4] = x[4] * 16 / -15;
    }
    const REAL16 sum = x[1] + x[2], difference = x[1] - x[2];
    REAL two = 1, less_half = 1;
    _Pragma("unroll") for (int i = 0; i < n; i++) {
        REAL16 s = fma((REAL16)(two), x[3], fma((REAL16)(less_half), x[4], i % 2 == 0 ? sum : difference));
        if (i == 0) s += x[0];
        if (i == n - 1) s += x[5];
        v[i * step] = s;
        two *= 2;
        less_half *= -.5f;
    }
}

// S[(y·width + x)·channels + c] = X[c, top + y, left + x] for y and x below height and width, zeros outside of X and past its
// last channel; channels is a multiple of 16.
static NOINLINE void turn(REAL *S, global const X_MEMORY *x, int channels, int given, int h, int w, int top, int left, int height, int width) {
    const int from = clamp(-left, 0, width), to = clamp(w - left, from, width);
    for (int y = 0; y < height; y++) {
        REAL *row = S + y * width * channels;
        const int inside = top + y >= 0 && top + y < h;
        for (int c = 0; c < channels; c++) {
            const int live = inside && c < given;
            global const X_MEMORY *in = x + (long)c * h * w + (top + y) * w + left;
            for (int i = 0; i < (live ? from : width); i++) row[i * channels + c] = 0;
            if (!live) continue;
            for (int i = from; i < to; i++) row[i * channels + c] = X_FROM(in[i]);
            for (int i = to; i < width; i++) row[i * channels + c] = 0;
        }
    }
}

// The planes V[(p·tiles + t)·channels + c] of rows×cols tiles of S, and zeros for those up to `tiles`; n×n values of a tile, M
// apart, are transformed by Bᵀ, or by A.
#define TRANSFORM(name, n, columns, values)                                                                               \
    static NOINLINE void name(REAL *V, const REAL *S, int channels, int width, int rows, int cols, int tiles) { \
        for (int t = 0; t < tiles; t++) {                                                                                 \
            const REAL *s = S + (t / cols * M * width + t % cols * M) * channels;                                         \
            for (int c = 0; c < channels; c += 16) {                                                                      \
                REAL16 v[P];                                                                                              \
                if (t < rows * cols) {                                                                                    \
                    _Pragma("unroll") for (int i = 0; i < n; i++)                                                         \
                        _Pragma("unroll") for (int j = 0; j < n; j++) v[A * i + j] = vload16(0, s + (i * width + j) * channels + c); \
                    _Pragma("unroll") for (int j = 0; j < n; j++) columns;                                                \
                    _Pragma("unroll") for (int i = 0; i < A; i++) values;                                                 \
                } else {                                                                                                  \
                    _Pragma("unroll") for (int p = 0; p < P; p++) v[p] = 0;                                               \
                }                                                                                                         \
                _Pragma("unroll") for (int p = 0; p < P; p++) vstore16(v[p], 0, V + (p * tiles + t) * channels + c);      \
            }                                                                                                             \
        }                                                                                                                 \
    }
TRANSFORM(input_planes, A, input_values(v + j, A), input_values(v + A * i, 1))
TRANSFORM(gradient_planes, M, point_values(v + j, M, A, 0), point_values(v + A * i, M, 1, 0))

// C[r·WIDE + j] = Σ_k x·Y[k·ldy + j] for r < ROWS and j < 16·VECTORS, where x is element (r, k) of X, added to C if `more`.
#define PRODUCT(name, ROWS, VECTORS, SPACE, ELEMENT)                                                                        \
    static void name(REAL *C, const REAL *X, int ldx, SPACE const REAL *Y, int ldy, int n, int more) {                     \
        REAL16 acc[ROWS][VECTORS];                                                                                         \
        _Pragma("unroll") for (int r = 0; r < ROWS; r++)                                                                   \
            _Pragma("unroll") for (int v = 0; v < VECTORS; v++) acc[r][v] = more ? vload16(v, C + r * WIDE) : (REAL16)(0); \
        for (int k = 0; k < n; k++) {                                                                                      \
            REAL16 y[VECTORS];                                                                                             \
            _Pragma("unroll") for (int v = 0; v < VECTORS; v++) y[v] = vload16(v, Y + k * ldy);                            \
            _Pragma("unroll") for (int r = 0; r < ROWS; r++)                                                               \
                _Pragma("unroll") for (int v = 0; v < VECTORS; v++) acc[r][v] = fma((REAL16)(X[ELEMENT]), y[v], acc[r][v]); \
        }                                                                                                                  \
        _Pragma("unroll") for (int r = 0; r < ROWS; r++)                                                                   \
            _Pragma("unroll") for (int v = 0; v < VECTORS; v++) vstore16(acc[r][v], v, C + r * WIDE);                      \
    }

// All rows of a product, in fours, for one column of vectors or two. NEXT is how far apart the X of two rows are.
#define PRODUCTS(name, SPACE, ELEMENT, NEXT)                                                                                \
    PRODUCT(name##12x2, 12, 2, SPACE, ELEMENT)                                                                             \
    PRODUCT(name##4x2, 4, 2, SPACE, ELEMENT)                                                                               \
    PRODUCT(name##12x1, 12, 1, SPACE, ELEMENT)                                                                             \
    PRODUCT(name##4x1, 4, 1, SPACE, ELEMENT)                                                                               \
    static NOINLINE void name(REAL *C, const REAL *X, int ldx, SPACE const REAL *Y, int ldy, int rows,     \
                                               int columns, int n, int more) {                                             \
        int r = 0;                                                                                                         \
        for (; r + 12 <= rows; r += 12) {                                                                                  \
            if (columns > 16) name##12x2(C + r * WIDE, X + r * (NEXT), ldx, Y, ldy, n, more);                              \
            else name##12x1(C + r * WIDE, X + r * (NEXT), ldx, Y, ldy, n, more);                                           \
        }                                                                                                                  \
        for (; r < rows; r += 4) {                                                                                         \
            if (columns > 16) name##4x2(C + r * WIDE, X + r * (NEXT), ldx, Y, ldy, n, more);                               \
            else name##4x1(C + r * WIDE, X + r * (NEXT), ldx, Y, ldy, n, more);                                            \
        }                                                                                                                  \
    }
PRODUCTS(output_product, global, r * ldx + k, ldx)
PRODUCTS(gradient_product, , k * ldx + r, 1)

// U[(p·read + c)·WHOLE(written) + o] = plane p of G·w·Gᵀ, of the weights w of channels o and c at W[o·w_written + c·w_read], in
// reverse order if `reversed`; zeros past the last o.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_winograd_weights(IN_OF(X_MEMORY, W), OUT(U), int written, int read, int w_written, int w_read, int reversed) {
    const int o0 = get_group_id(0) * 16, c = get_group_id(1), wide = WHOLE(written);
    REAL16 v[P];
    _Pragma("unroll") for (int i = 0; i < R; i++)
        _Pragma("unroll") for (int j = 0; j < R; j++) {
            const int tap = reversed ? R * R - 1 - (i * R + j) : i * R + j;
            REAL each[16];
            for (int l = 0; l < 16; l++) each[l] = o0 + l < written ? X_FROM(W[W_off + (o0 + l) * w_written + c * w_read + tap]) : 0;
            v[A * i + j] = vload16(0, each);
        }
    _Pragma("unroll") for (int j = 0; j < R; j++) point_values(v + j, R, A, 1);
    _Pragma("unroll") for (int i = 0; i < A; i++) point_values(v + A * i, R, 1, 1);
    _Pragma("unroll") for (int p = 0; p < P; p++) vstore16(v[p], 0, U + U_off + (p * read + c) * wide + o0);
}

// The M×M outputs of a tile at s and of up to 16 channels, tap by tap, put in v where that has no finite ones: a value that is
// infinite, or so large that a transform is, would take those with it that do not depend on it.
static NOINLINE void mend(REAL16 *v, const REAL *s, int width, int deep, int read, global const X_MEMORY *w, int live,
                                           int w_written, int w_read, int reversed) {
    REAL16 sums[M * M];
    for (int i = 0; i < M * M; i++) sums[i] = 0;
    for (int c = 0; c < read; c++)
        for (int tap = 0; tap < R * R; tap++) {
            REAL each[16];
            for (int l = 0; l < 16; l++) each[l] = l < live ? X_FROM(w[l * w_written + c * w_read + (reversed ? R * R - 1 - tap : tap)]) : 0;
            for (int i = 0; i < M * M; i++)
                sums[i] = fma(vload16(0, each), (REAL16)(s[((i / M + tap / R) * width + i % M + tap % R) * deep + c]), sums[i]);
        }
    for (int i = 0; i < M * M; i++) {
        REAL16 *at = &v[A * (i / M) + i % M];
        *at = isfinite(*at) ? *at : sums[i];
    }
}

// Y [images, written, oh, ow] of X [images, read, h, w], U and BIAS [written]: a block of tiles of an image. The numbers after
// `biased` are those of k_winograd_weights.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_winograd(IN_OF(X_MEMORY, X), IN(U), IN_OF(X_MEMORY, W), IN_OF(X_MEMORY, BIAS), OUT_OF(Y_MEMORY, Y), int read, int written, int h,
                int w, int oh, int ow, int pad_y, int pad_x, int block_rows, int block_cols, int biased, int w_written, int w_read, int reversed) {
    REAL S[PIXELS], V[PLANES], C[P * TILES * WIDE];
    const int image = get_group_id(2), deep = WHOLE(read), wide = WHOLE(written);
    const int ty = get_group_id(1) * block_rows, tx = get_group_id(0) * block_cols;
    const int rows = min(block_rows, (oh + M - 1) / M - ty), cols = min(block_cols, (ow + M - 1) / M - tx);
    const int tiles = (rows * cols + 3) / 4 * 4, width = cols * M + R - 1;
    turn(S, X + X_off + (long)image * read * h * w, deep, read, h, w, ty * M - pad_y, tx * M - pad_x, rows * M + R - 1, width);
    input_planes(V, S, deep, width, rows, cols, tiles);
    for (int o0 = 0; o0 < wide; o0 += WIDE) {
        const int columns = min(WIDE, wide - o0);
        for (int p = 0; p < P; p++)
            output_product(C + p * tiles * WIDE, V + p * tiles * deep, deep, U + U_off + p * read * wide + o0, wide, tiles, columns, read, 0);
        for (int j = 0; j < columns; j += 16)
            for (int t = 0; t < rows * cols; t++) {
                REAL16 v[P];
                _Pragma("unroll") for (int p = 0; p < P; p++) v[p] = vload16(0, C + (p * tiles + t) * WIDE + j);
                _Pragma("unroll") for (int i = 0; i < A; i++) point_sums(v + i, M, A, 0);
                _Pragma("unroll") for (int i = 0; i < M; i++) point_sums(v + A * i, M, 1, 0);
                REAL16 finite = 0; // NaN elsewhere
                _Pragma("unroll") for (int i = 0; i < M; i++)
                    _Pragma("unroll") for (int q = 0; q < M; q++) finite += v[A * i + q] - v[A * i + q];
                if (!all(finite == 0))
                    mend(v, S + (t / cols * M * width + t % cols * M) * deep, width, deep, read, W + W_off + (o0 + j) * w_written,
                         min(16, written - o0 - j), w_written, w_read, reversed);
                const int y0 = (ty + t / cols) * M, x0 = (tx + t % cols) * M;
                for (int l = 0; l < min(16, written - o0 - j); l++) {
                    const int o = o0 + j + l;
                    const REAL add = biased ? X_FROM(BIAS[BIAS_off + o]) : 0;
                    global Y_MEMORY *to = Y + Y_off + ((long)image * written + o) * oh * ow + y0 * ow + x0;
                    if (y0 + M <= oh && x0 + M <= ow) {
                        _Pragma("unroll") for (int i = 0; i < M; i++)
                            _Pragma("unroll") for (int q = 0; q < M; q++) to[i * ow + q] = Y_TO(((REAL *)&v[A * i + q])[l] + add);
                    } else {
                        for (int i = 0; i < min(M, oh - y0); i++)
                            for (int q = 0; q < min(M, ow - x0); q++) to[i * ow + q] = Y_TO(((REAL *)&v[A * i + q])[l] + add);
                    }
                }
            }
    }
}

// A share of the planes of the gradient of the weights, D[((z·P + p)·written + o)·WHOLE(read) + c], by group z of
// Z: of every Z-th block of tiles of all images from z on, for X [images, read, h, w] and the gradient G [images, written, oh, ow].
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_winograd_gradient(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, G), OUT(D), int images, int read, int written, int h, int w, int oh, int ow, int pad_y, int pad_x,
                         int block_rows, int block_cols) {
    REAL S[PIXELS], V[PLANES], T[PLANES];
    const int deep = WHOLE(read), wide = WHOLE(written), tall = (oh + M - 1) / M, broad = (ow + M - 1) / M;
    const int down = (tall + block_rows - 1) / block_rows, across = (broad + block_cols - 1) / block_cols;
    global REAL *d = D + D_off + (long)get_group_id(0) * P * written * deep;
    int more = 0;
    for (int b = get_group_id(0); b < images * down * across; b += get_num_groups(0)) {
        const int image = b / (down * across), ty = b / across % down * block_rows, tx = b % across * block_cols;
        const int rows = min(block_rows, tall - ty), cols = min(block_cols, broad - tx), tiles = (rows * cols + 3) / 4 * 4;
        const int width = cols * M + R - 1;
        turn(S, X + X_off + (long)image * read * h * w, deep, read, h, w, ty * M - pad_y, tx * M - pad_x, rows * M + R - 1, width);
        input_planes(V, S, deep, width, rows, cols, tiles);
        turn(S, G + G_off + (long)image * written * oh * ow, wide, written, oh, ow, ty * M, tx * M, rows * M, cols * M);
        gradient_planes(T, S, wide, cols * M, rows, cols, tiles);
        for (int p = 0; p < P; p++)
            for (int c0 = 0; c0 < deep; c0 += WIDE) {
                const int columns = min(WIDE, deep - c0);
                for (int o0 = 0; o0 < written; o0 += 12) {
                    global REAL *share = d + (p * written + o0) * deep + c0;
                    const int live = min(12, written - o0);
                    REAL C[12 * WIDE];
                    for (int r = 0; r < 12; r++)
                        for (int j = 0; j < columns; j += 16)
                            vstore16(more && r < live ? vload16(0, share + r * deep + j) : (REAL16)(0), 0, C + r * WIDE + j);
                    gradient_product(C, T + p * tiles * wide + o0, wide, V + p * tiles * deep + c0, deep, live, columns, rows * cols, 1);
                    for (int r = 0; r < live; r++)
                        for (int j = 0; j < columns; j += 16) vstore16(vload16(0, C + r * WIDE + j), 0, share + r * deep + j);
                }
            }
        more = 1;
    }
}

// W[(o·read + c)·R·R] = Gᵀ·u·G for the planes u of D [P, written, WHOLE(read)].
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_winograd_weights_grad(IN(D), OUT_OF(Y_MEMORY, W), int written, int read) {
    const int c0 = get_group_id(0) * 16, o = get_group_id(1), deep = WHOLE(read);
    REAL16 v[P];
    _Pragma("unroll") for (int p = 0; p < P; p++) v[p] = vload16(0, D + D_off + (p * written + o) * deep + c0);
    _Pragma("unroll") for (int j = 0; j < A; j++) point_sums(v + j, R, A, 1);
    _Pragma("unroll") for (int i = 0; i < R; i++) point_sums(v + A * i, R, 1, 1);
    for (int l = 0; l < min(16, read - c0); l++)
        _Pragma("unroll") for (int i = 0; i < R; i++)
            _Pragma("unroll") for (int j = 0; j < R; j++)
                W[W_off + ((o * read + c0 + l) * R + i) * R + j] = Y_TO(((REAL *)&v[A * i + j])[l]);
}
