// @depends: common, activation
// The gradient of a layer Y = f(X·W + b) before its matrix products, for GPUs.
//
// D = f'·G, the gradient of the sum X·W + b, and P[z*cols + c] = Σ_r D[r*cols + c] over the run
// [z*run, min(rows, (z+1)*run)) of its rows: the gradient of b, in one share for each run. G, Y, D: [rows, cols].
// A work-item takes one column of one run: neighbours read neighbours.

kernel void k_linear_grad(IN(G), IN(Y), OUT(D), OUT(P), int rows, int cols, int run, int act, REAL slope) {
    const int c = get_global_id(0), z = get_global_id(1);
    if (c >= cols || z * run >= rows) return;
    REAL sum = 0;
    for (int r = z * run; r < min(rows, (z + 1) * run); r++) {
        const int at = r * cols + c;
        const REAL d = activation_grad_REAL(Y[Y_off + at], G[G_off + at], act, slope);
        D[D_off + at] = d;
        sum += d;
    }
    P[P_off + z * cols + c] = sum;
}
