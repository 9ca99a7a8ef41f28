// @depends: common
// The gradient of a layer before its matrix products, for CPUs: what linear_gpu.cl says, by one work-item per
// work-group for 16 columns of a run, which are a vector.

#ifndef SLOPE // without a function before it, D = G
#define SLOPE_INPUTS IN(G),
#define SLOPE_PARAMS
#define SLOPE(at) G[G_off + (at)]
#define SLOPE16(at) vload16(0, G + G_off + (at))
#endif

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_linear_grad(SLOPE_INPUTS OUT(D), OUT(P), int rows, int cols, int run SLOPE_PARAMS) {
    const int c = get_group_id(0) * 16, z = get_group_id(1), wide = min(16, cols - c);
    REAL sums[16];
    REAL16 sum = 0;
    for (int j = 0; j < 16; j++) sums[j] = 0;
    for (int r = z * run; r < min(rows, (z + 1) * run); r++) {
        const int at = r * cols + c;
        if (wide == 16) {
            const REAL16 d = SLOPE16(at);
            vstore16(d, 0, D + D_off + at);
            sum += d;
        } else {
            for (int j = 0; j < wide; j++) {
                const REAL d = SLOPE(at + j);
                D[D_off + at + j] = d;
                sums[j] += d;
            }
        }
    }
    if (wide == 16) vstore16(sum, 0, P + P_off + z * cols + c);
    for (int j = 0; j < wide && wide < 16; j++) P[P_off + z * cols + c + j] = sums[j];
}
