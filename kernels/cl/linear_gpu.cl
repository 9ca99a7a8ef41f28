// @depends: common
// The gradient of a layer Y = f(Z), Z = X·W + b, before its matrix products, for GPUs.
//
// D = f'(Z)·G, the gradient of Z, and P[z*cols + c] = Σ_r D[r*cols + c] over the run [z*run, min(rows, (z+1)*run)) of
// its rows: the gradient of b, in one share for each run. All but P are [rows, cols]. f' times G is a function of what it
// reads of Z, Y and G, which internal/ops/linear.go writes into a text before this one. A work-item takes one column of
// one run: neighbours read neighbours.

#ifndef SLOPE // without a function before it, D = G
#define SLOPE_INPUTS IN(G),
#define SLOPE_PARAMS
#define SLOPE(at) G[G_off + (at)]
#endif

kernel void k_linear_grad(SLOPE_INPUTS OUT(D), OUT(P), int rows, int cols, int run SLOPE_PARAMS) {
    const int c = get_global_id(0), z = get_global_id(1);
    if (c >= cols || z * run >= rows) return;
    REAL sum = 0;
    for (int r = z * run; r < min(rows, (z + 1) * run); r++) {
        const int at = r * cols + c;
        const REAL d = SLOPE(at);
        D[D_off + at] = d;
        sum += d;
    }
    P[P_off + z * cols + c] = sum;
}
