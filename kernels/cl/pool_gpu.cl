// @depends: common, pool, memory, epilogue
// Pooling for GPUs: see pool.cl. A work-item computes an element of the result; where windows are TILES, which lie side by side
// in planes, it has two that are neighbours, and what is in them, so that rows are read and written by fours.

#ifdef KX
#define TILES (KZ == 1 && SZ == 1 && PZ == 0 && PY == 0 && PX == 0 && DY == 1 && DX == 1 && SY == KY && SX == KX)
#else
#define TILES 0
#endif

#define WINDOWS                                                               \
    const window wz = window_of(z, iz, oz, KZ, SZ, DZ, PZ, ADAPTIVE);         \
    const window wy = window_of(y, iy, oy, KY, SY, DY, PY, ADAPTIVE);         \
    const window wx = window_of(x, ix, ox, KX, SX, DX, PX, ADAPTIVE);

#define OUTPUTS                                                               \
    const int2 qz = outputs_of(z, iz, oz, KZ, SZ, DZ, PZ, ADAPTIVE);          \
    const int2 qy = outputs_of(y, iy, oy, KY, SY, DY, PY, ADAPTIVE);          \
    const int2 qx = outputs_of(x, ix, ox, KX, SX, DX, PX, ADAPTIVE);

// The largest of a window of a plane or volume `in`, and its place there: the first of equal ones; of NaNs, which win, the last.
static REAL largest(global const X_MEMORY *in, window wz, window wy, window wx, int iz, int iy, int ix, int *place) {
    REAL m = -INFINITY;
    int at = -1;
    for (int jz = 0; jz < wz.taps; jz++) {
        for (int jy = 0; jy < wy.taps; jy++) {
            for (int jx = 0; jx < wx.taps; jx++) {
                const int fz = wz.first + jz * wz.step, fy = wy.first + jy * wy.step, fx = wx.first + jx * wx.step;
                const int inside = fz >= 0 && fz < iz && fy >= 0 && fy < iy && fx >= 0 && fx < ix;
                const int i = inside ? (fz * iy + fy) * ix + fx : 0;
                const REAL v = X_FROM(in[i]);
                const int take = inside && (at < 0 || v > m || isnan(v));
                m = take ? v : m;
                at = take ? i : at;
            }
        }
    }
    *place = at;
    return m;
}

#if TILES
// The two outputs x and x + 1 of a row of Y, of whose windows the first elements are those of `in` from `first` on.
#define PAIR                                                                                                  \
    const int pairs = (ox + 1) / 2, row = get_global_id(0) / pairs, x = get_global_id(0) % pairs * 2;         \
    if (row >= outer * oz * oy) return;                                                                       \
    const int plane = row / oy, y = row % oy, two = x + 1 < ox;                                               \
    global const X_MEMORY *in = X + X_off + (plane * iy + y * SY) * ix + x * SX;                                  \
    const int whole = (y + 1) * SY <= iy && (x + 1 + two) * SX <= ix, to = row * ox + x;                      \
    const int fours = KX == 2 && whole && two && ((ix | X_off) & 3) == 0, both = two && ((ox | Y_off) & 1) == 0;

// Stores the outputs of both.
#define PUT_PAIR(v)                                      \
    if (both) {                                          \
        PUT2(Y + Y_off, to, (REAL2)((v)[0], (v)[1]));    \
    } else {                                             \
        PUT(Y + Y_off, to, (v)[0]);                      \
        if (two) PUT(Y + Y_off, to + 1, (v)[1]);         \
    }

// Row jy of the windows of both, into v.
#define LOAD_PAIR(v, jy)                                                                                      \
    if (fours) {                                                                                              \
        const REAL4 q = X_FROM4(*(global const X_MEMORY4 *)(in + (jy) * ix));                                 \
        v[0] = q.x;                                                                                           \
        v[1] = q.y;                                                                                           \
        v[KX] = q.z;                                                                                          \
        v[2 * KX - 1] = q.w;                                                                                  \
    } else {                                                                                                  \
        _Pragma("unroll") for (int jx = 0; jx < 2 * KX; jx++) v[jx] = jx < KX || two ? X_FROM(in[(jy) * ix + jx]) : 0; \
    }

// Y is the largest of a window, and I, if `indices`, its place in [iz, iy, ix].
kernel void k_max_pool(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), OUT_INTS(I), POOL_PARAMS, int indices PUT_PARAMS) {
    PAIR
    REAL m[2];
    int at[2];
    if (whole) {
        _Pragma("unroll") for (int jy = 0; jy < KY; jy++) {
            REAL v[2 * KX];
            LOAD_PAIR(v, jy)
            _Pragma("unroll") for (int jx = 0; jx < 2 * KX; jx++) {
                const int k = jx / KX, take = jy + jx % KX == 0 || v[jx] > m[k] || isnan(v[jx]);
                m[k] = take ? v[jx] : m[k];
                at[k] = take ? jy * ix + jx : at[k];
            }
        }
        const int corner = (plane % iz * iy + y * SY) * ix + x * SX;
        at[0] += corner;
        at[1] += corner;
    } else {
        const int z = plane % iz;
        for (int k = 0; k <= two; k++)
            m[k] = largest(X + X_off + plane / iz * iz * iy * ix, window_of(z, iz, oz, KZ, SZ, DZ, PZ, 0), window_of(y, iy, oy, KY, SY, DY, PY, 0),
                           window_of(x + k, ix, ox, KX, SX, DX, PX, 0), iz, iy, ix, at + k);
    }
    PUT_PAIR(m)
    if (indices) {
        I[I_off + to] = at[0];
        if (two) I[I_off + to + 1] = at[1];
    }
}

// The inputs of two windows, from place x of row y of a plane on. Each is in one window alone, number q and q + 1, if that is
// `there`.
#define INPUTS                                                                                                \
    const int blocks = (ix + 2 * SX - 1) / (2 * SX), tall = (iy + SY - 1) / SY;                               \
    const int r = get_global_id(0) / blocks, bx = get_global_id(0) % blocks, plane = r / tall, by = r % tall; \
    if (plane >= outer * iz) return;                                                                          \
    const int x = bx * 2 * SX, y = by * SY, q = (plane * oy + by) * ox + 2 * bx;                              \
    const int there[2] = {by < oy && 2 * bx < ox, by < oy && 2 * bx + 1 < ox};                                \
    const int fours = SX == 2 && x + 4 <= ix && ((ix | D_off) & 3) == 0;

// Writes v to the inputs of row jy.
#define STORE_INPUTS(v, jy)                                                                                   \
    if (y + (jy) < iy) {                                                                                      \
        const int to = (plane * iy + y + (jy)) * ix + x;                                                      \
        if (fours) {                                                                                          \
            PUT4(D + D_off, to, (REAL4)(v[0], v[1], v[SX], v[2 * SX - 1]));                                   \
        } else {                                                                                              \
            _Pragma("unroll") for (int jx = 0; jx < 2 * SX; jx++) if (x + jx < ix) PUT(D + D_off, to + jx, v[jx]); \
        }                                                                                                     \
    }

// D is the G of the output whose I names the input, or 0.
kernel void k_max_pool_grad(IN_OF(X_MEMORY, G), IN_INTS(I), OUT_OF(Y_MEMORY, D), POOL_PARAMS PUT_PARAMS) {
    INPUTS
    REAL g[2];
    int at[2];
    _Pragma("unroll") for (int k = 0; k < 2; k++) {
        g[k] = there[k] ? X_FROM(G[G_off + q + k]) : 0;
        at[k] = there[k] ? I[I_off + q + k] : -1;
    }
    const int corner = (plane % iz * iy + y) * ix + x;
    _Pragma("unroll") for (int jy = 0; jy < SY; jy++) {
        REAL v[2 * SX];
        _Pragma("unroll") for (int jx = 0; jx < 2 * SX; jx++) v[jx] = at[jx / SX] == corner + jy * ix + jx ? g[jx / SX] : 0;
        STORE_INPUTS(v, jy)
    }
}
#else
// Y is the largest of a window, and I, if `indices`, its place in [iz, iy, ix].
kernel void k_max_pool(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), OUT_INTS(I), POOL_PARAMS, int indices PUT_PARAMS) {
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= ox || row >= outer * oz * oy) return;
    const int y = row % oy, z = row / oy % oz, o = row / oy / oz;
    WINDOWS
    int at;
    const REAL most = largest(X + X_off + o * iz * iy * ix, wz, wy, wx, iz, iy, ix, &at);
    PUT(Y + Y_off, row * ox + x, most);
    if (indices) I[I_off + row * ox + x] = at;
}

// D is the sum of G over the outputs whose I names the input.
kernel void k_max_pool_grad(IN_OF(X_MEMORY, G), IN_INTS(I), OUT_OF(Y_MEMORY, D), POOL_PARAMS PUT_PARAMS) {
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= ix || row >= outer * iz * iy) return;
    const int y = row % iy, z = row / iy % iz, o = row / iy / iz, self = row % (iz * iy) * ix + x;
    OUTPUTS
    REAL sum = 0;
    for (int a = qz.s0; a < qz.s1; a++) {
        for (int b = qy.s0; b < qy.s1; b++) {
            for (int c = qx.s0; c < qx.s1; c++) {
                const int q = ((o * oz + a) * oy + b) * ox + c;
                sum += I[I_off + q] == self ? X_FROM(G[G_off + q]) : 0;
            }
        }
    }
    PUT(D + D_off, row * ix + x, sum);
}
#endif

// What the sum of a window is divided by.
#define DIVISOR (divisor > 0 ? divisor : counted(wz, iz, PZ, padding) * counted(wy, iy, PY, padding) * counted(wx, ix, PX, padding))

// The sum of a window of a plane or volume `in`.
static REAL sum_of(global const X_MEMORY *in, window wz, window wy, window wx, int iz, int iy, int ix) {
    REAL sum = 0;
    for (int jz = 0; jz < wz.taps; jz++) {
        for (int jy = 0; jy < wy.taps; jy++) {
            for (int jx = 0; jx < wx.taps; jx++) {
                const int fz = wz.first + jz, fy = wy.first + jy, fx = wx.first + jx;
                const int inside = fz >= 0 && fz < iz && fy >= 0 && fy < iy && fx >= 0 && fx < ix;
                const REAL v = X_FROM(in[inside ? (fz * iy + fy) * ix + fx : 0]);
                sum += inside ? v : 0;
            }
        }
    }
    return sum;
}

#if TILES
// Y is the sum of a window over the divisor, or if that is 0 over the inputs that are counted.
kernel void k_avg_pool(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), POOL_PARAMS, int padding, int divisor PUT_PARAMS) {
    PAIR
    REAL sum[2] = {0, 0};
    if (whole) {
        _Pragma("unroll") for (int jy = 0; jy < KY; jy++) {
            REAL v[2 * KX];
            LOAD_PAIR(v, jy)
            _Pragma("unroll") for (int jx = 0; jx < 2 * KX; jx++) sum[jx / KX] += v[jx];
        }
        const REAL by = divisor > 0 ? divisor : KY * KX;
        sum[0] /= by;
        sum[1] /= by;
    } else {
        for (int k = 0; k <= two; k++) {
            const window wz = {0, 1, 1}, wy = window_of(y, iy, oy, KY, SY, DY, PY, 0), wx = window_of(x + k, ix, ox, KX, SX, DX, PX, 0);
            sum[k] = sum_of(X + X_off + plane * iy * ix, wz, wy, wx, 1, iy, ix) / (divisor > 0 ? divisor : counted(wy, iy, PY, padding) * counted(wx, ix, PX, padding));
        }
    }
    PUT_PAIR(sum)
}

// D is the G of the output in whose window the input is over its divisor, or 0.
kernel void k_avg_pool_grad(IN_OF(X_MEMORY, G), OUT_OF(Y_MEMORY, D), POOL_PARAMS, int padding, int divisor PUT_PARAMS) {
    INPUTS
    REAL g[2];
    _Pragma("unroll") for (int k = 0; k < 2; k++) {
        const window wy = window_of(by, iy, oy, KY, SY, DY, PY, 0), wx = window_of(2 * bx + k, ix, ox, KX, SX, DX, PX, 0);
        g[k] = there[k] ? X_FROM(G[G_off + q + k]) / (divisor > 0 ? divisor : counted(wy, iy, PY, padding) * counted(wx, ix, PX, padding)) : 0;
    }
    _Pragma("unroll") for (int jy = 0; jy < SY; jy++) {
        REAL v[2 * SX];
        _Pragma("unroll") for (int jx = 0; jx < 2 * SX; jx++) v[jx] = g[jx / SX];
        STORE_INPUTS(v, jy)
    }
}
#else
// Y is the sum of a window over the divisor, or if that is 0 over the inputs that are counted.
kernel void k_avg_pool(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), POOL_PARAMS, int padding, int divisor PUT_PARAMS) {
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= ox || row >= outer * oz * oy) return;
    const int y = row % oy, z = row / oy % oz, o = row / oy / oz;
    WINDOWS
    PUT(Y + Y_off, row * ox + x, sum_of(X + X_off + o * iz * iy * ix, wz, wy, wx, iz, iy, ix) / DIVISOR);
}

// D is the sum of G over the divisors of the outputs in whose windows the input is.
kernel void k_avg_pool_grad(IN_OF(X_MEMORY, G), OUT_OF(Y_MEMORY, D), POOL_PARAMS, int padding, int divisor PUT_PARAMS) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= ix || row >= outer * iz * iy) return;
    const int o = row / iy / iz;
    REAL sum = 0;
    int2 qz, qy, qx;
    {
        const int x = column, y = row % iy, z = row / iy % iz;
        qz = outputs_of(z, iz, oz, KZ, SZ, DZ, PZ, ADAPTIVE);
        qy = outputs_of(y, iy, oy, KY, SY, DY, PY, ADAPTIVE);
        qx = outputs_of(x, ix, ox, KX, SX, DX, PX, ADAPTIVE);
    }
    for (int z = qz.s0; z < qz.s1; z++) {
        for (int y = qy.s0; y < qy.s1; y++) {
            for (int x = qx.s0; x < qx.s1; x++) {
                WINDOWS
                sum += X_FROM(G[G_off + ((o * oz + z) * oy + y) * ox + x]) / DIVISOR;
            }
        }
    }
    PUT(D + D_off, row * ix + column, sum);
}
#endif
