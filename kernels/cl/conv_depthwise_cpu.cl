// @depends: common, convolution, conv_rows, memory, epilogue
// Convolutions of pictures for CPUs whose groups have one channel: see convolution.cl for what is computed.
//
// One work-item per work-group, and no local memory. A work-item computes some channels. It copies the rows that a strip of
// a channel reads into private memory, with the zeros of the padding in place, which stay from channel to channel. A stride
// splits a row into one for each remainder of the positions by it: then the inputs of a tap at neighbours of a row are
// neighbours. Vectors of sixteen positions, of one row or of several, are computed at once.

#define DEPTH_PLANES 16384 // elements of the rows of a strip
#define DEPTH_SUMS 8192    // positions of a strip
#define DEPTH_TAPS 256
#define SIDES 8 // vectors that are computed at once

// T[to[v] + i] = Σ W[k]·P[poff[k] + from[v] + i] for sixteen neighbours i of each of SIDES vectors, which are stored in their order.
static NOINLINE void add_taps(const REAL *P, const int *poff, global const X_MEMORY *W, int taps, const int *from, REAL *T, const int *to) {
    REAL16 acc[SIDES];
    int at[SIDES];
    _Pragma("unroll") for (int v = 0; v < SIDES; v++) acc[v] = 0, at[v] = from[v];
    for (int k = 0; k < taps; k++) {
        const REAL16 w = (REAL16)(X_FROM(W[k]));
        const REAL *p = P + poff[k];
        _Pragma("unroll") for (int v = 0; v < SIDES; v++) acc[v] = fma(w, IN_MEMORY(const, REAL16, p + at[v]), acc[v]);
    }
    _Pragma("unroll") for (int v = 0; v < SIDES; v++) IN_MEMORY(, REAL16, T + to[v]) = acc[v];
}

// Y from X and W, of batch·groups channels, which the work-groups share. The shape is one of a picture: the first axis has size 1.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_conv_depthwise(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, W), IN_OF(X_MEMORY, BIAS), OUT_OF(Y_MEMORY, Y), CONV_PARAMS, int transposed, int biased, int rows, int cols PUT_PARAMS) {
    REAL P[DEPTH_PLANES + 16], T[DEPTH_SUMS + 16];
    int poff[DEPTH_TAPS], from[SIDES], to[SIDES];
    const int channels = batch * groups, shares = get_num_groups(0), taps = ky * kx;
    const int begin = (long)channels * get_group_id(0) / shares, end = (long)channels * (get_group_id(0) + 1) / shares;
    const int span_y = (ky - 1) * dy, span_x = (kx - 1) * dx;
    const int split = min(sx, span_x + 1), width = ox + span_x / sx, height = split * width; // of one row that is read
    const int most = min(min(oy, DEPTH_SUMS / ox), (DEPTH_PLANES / height - span_y - 1) / sy + 1);
    for (int k = 0; k < taps; k++) {
        const int x = k % kx * dx;
        poff[k] = (k / kx * dy * split + x % sx) * width + x / sx;
    }
    for (int y0 = 0; y0 < oy; y0 += most) {
        const int strip = min(most, oy - y0), read = (strip - 1) * sy + span_y + 1, top = y0 * sy - py;
        for (int i = 0; i < read * height + 16; i++) P[i] = 0;
        for (int channel = begin; channel < end; channel++) {
            global const X_MEMORY *in = X + X_off + channel * iy * ix;
            for (int a = max(0, -top); a < min(read, iy - top); a++) {
                for (int r = 0; r < split; r++) {
                    const int left = px > r ? (px - r + sx - 1) / sx : 0;
                    const int right = min(width, ix + px > r ? (ix + px - r + sx - 1) / sx : 0);
                    copy_run(P + (a * split + r) * width + left, in + (top + a) * ix + left * sx + r - px, right - left, sx);
                }
            }
            global const X_MEMORY *weights = W + W_off + channel % groups * taps;
            // The last vectors are repeated: what they store beyond their row comes before the row behind it.
            for (int a = 0, c = 0; a < strip;) {
                int v = 0;
                for (; v < SIDES && a < strip; v++) {
                    from[v] = a * sy * height + c, to[v] = a * ox + c;
                    c += 16;
                    if (c >= ox) c = 0, a++;
                }
                for (; v < SIDES; v++) from[v] = from[v - 1], to[v] = to[v - 1];
                add_taps(P, poff, weights, taps, from, T, to);
            }
            const REAL bias = biased ? X_FROM(BIAS[BIAS_off + channel % groups]) : 0;
            const int out = (channel * oy + y0) * ox, count = strip * ox;
#ifdef PUT_ROW
            global Y_MEMORY *y = Y + Y_off;
            for (int i = 0; i < count; i += 16) {
                const REAL16 v = IN_MEMORY(, REAL16, T + i) + bias;
#ifdef PUT_KEEP
                if (i + 16 <= count) Y_STORE16(v, y + out + i);
                for (int k = i; i + 16 > count && k < count; k++) y[out + k] = Y_TO(T[k] + bias);
#endif
                PUT_ROW(, v, out + i, min(16, count - i));
            }
#else
            global Y_MEMORY *y = Y + Y_off + out;
            int i = 0;
            for (; i + 16 <= count; i += 16) Y_STORE16(IN_MEMORY(, REAL16, T + i) + bias, y + i);
            for (; i < count; i++) y[i] = Y_TO(T[i] + bias);
#endif
        }
    }
}
