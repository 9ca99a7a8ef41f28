// @depends: common, rows_gpu
// Cross-entropy of lines of X [outer, len, inner] with labels T [outer, inner], for GPUs. Of a line x with the label t,
// with weights w [len], or 1 without:
//
//   loss = (1 − smoothing)·w[t]·n[t] + smoothing/len·Σ w[k]·n[k],   n[k] = log Σ exp(x − max x) − (x[k] − max x)
//
// or n = −x if x is not `logits` but logarithms already. It is 0 if t is `ignore`, or no element of the line. R [5, outer,
// inner] gets the loss, w[t] or 0, max x, the logarithm, and the slope of the shares exp(x) / Σ exp(x) in the gradient.
// The gradient for that of the losses, G [outer, inner], is D [outer, len, inner]:
//
//   G·(slope·exp(x − max x − log Σ) − smoothing/len·w − (1 − smoothing)·w[t]·[k = t])
//
// A line has some lanes of a work-group, as in softmax_gpu.cl; its elements are read once. The gradient has a work-item for
// each element.

#define COUNTS(t) ((t) != ignore && (t) >= 0 && (t) < len)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void k_cross_entropy(IN(X), IN_INTS(T), IN(W), OUT(R), int outer, int len, int inner, int weighted, int logits, int ignore, REAL smoothing) {
    local REAL t[2 * GROUP];
    local REAL2 t2[2 * GROUP];
    LINES(len, inner > 1)
    const int lines = outer * inner, line = get_group_id(0) * beside + place, count = line < lines ? len : 0;
    const int at = inner == 1 ? line * len : line / inner * len * inner + line % inner;
    global const REAL *x = X + X_off + at, *weight = W + W_off;
    REAL v[PER], most = 0, log_sum = 0;
    LOAD_KEPT(v, x, inner == 1 && FOURS(len, X_off), inner, -INFINITY)
    if (logits) {
        REAL m = -INFINITY, s = 0;
        _Pragma("unroll") for (int j = 0; j < PER; j++) m = v[j] > m ? v[j] : m;
        for (int k = lane + PER * lanes; k < count; k += lanes) m = x[k * inner] > m ? x[k * inner] : m;
        most = tree_max(t, m, slot, lane, lanes, step);
        _Pragma("unroll") for (int j = 0; j < PER; j++)
            if (KEPT(j) < count) s += exp(v[j] - most);
        for (int k = lane + PER * lanes; k < count; k += lanes) s += exp(x[k * inner] - most);
        log_sum = log(tree_sum(t, s, slot, lane, lanes, step));
    }
    REAL2 sums = 0; // of the weights, and of the elements times theirs
    if (smoothing != 0) {
        _Pragma("unroll") for (int j = 0; j < PER; j++) {
            const int k = KEPT(j);
            if (k < count) {
                const REAL w = weighted ? weight[k] : 1;
                sums += (REAL2)(w, w * (v[j] - most));
            }
        }
        for (int k = lane + PER * lanes; k < count; k += lanes) {
            const REAL w = weighted ? weight[k] : 1;
            sums += (REAL2)(w, w * (x[k * inner] - most));
        }
        sums = tree_sums(t2, sums, slot, lane, lanes, step);
    }
    if (lane > 0 || count == 0) return;
    global REAL *r = R + R_off + line;
    const int label = T[T_off + line], counts = COUNTS(label);
    REAL loss = 0, w = 0, slope = 0;
    if (counts) {
        w = weighted ? weight[label] : 1;
        loss = (1 - smoothing) * w * (log_sum - (x[label * inner] - most));
        slope = (1 - smoothing) * w;
        if (smoothing != 0) {
            loss += smoothing / len * (log_sum * sums.x - sums.y);
            slope += smoothing / len * sums.x;
        }
    }
    r[0] = loss;
    r[lines] = w;
    r[2 * lines] = most;
    r[3 * lines] = log_sum;
    r[4 * lines] = slope;
}

kernel void k_cross_entropy_grad(IN(X), IN_INTS(T), IN(W), IN(R), IN(G), OUT(D), int outer, int len, int inner, int weighted, int logits, int ignore,
                                 REAL smoothing) {
    const int at = get_global_id(0), lines = outer * inner;
    if (at >= lines * len) return;
    const int k = at / inner % len, line = at / inner / len * inner + at % inner, label = T[T_off + line];
    global const REAL *r = R + R_off + line;
    REAL v = 0;
    if (COUNTS(label)) {
        const REAL up = G[G_off + line];
        if (logits) v = exp(X[X_off + at] - r[2 * lines] - r[3 * lines]) * r[4 * lines];
        if (smoothing != 0) v -= smoothing / len * (weighted ? W[W_off + k] : 1);
        v *= up;
        if (k == label) v -= (1 - smoothing) * (weighted ? W[W_off + k] : 1) * up;
    }
    D[D_off + at] = v;
}
