// @depends: common, rows_gpu
// Cross-entropy of lines of X [outer, len, inner] with labels T [outer, inner], for GPUs. Of a line x with the label t,
// with weights w [len], or 1 without:
//
//   loss = (1 − smoothing)·w[t]·n[t] + smoothing/len·Σ w[k]·n[k],   n[k] = log Σ exp(x − max x) − (x[k] − max x)
//
// or n = −x if x is not `logits` but logarithms already. It is 0 if t is `ignore`, or no element of the line. R [5, outer,
// inner] gets the loss, w[t] or 0, max x, the logarithm, and the slope of the shares exp(x) / Σ exp(x) in the gradient.
// The gradient for that of the losses, G [outer, inner], or [1] unless `each` has one, is D [outer, len, inner]:
//
//   G·(slope·exp(x − max x − log Σ) − smoothing/len·w − (1 − smoothing)·w[t]·[k = t])
//
// A line has some lanes of a work-group, as in softmax_gpu.cl; its elements are read once.

#define COUNTS(t) ((t) != ignore && (t) >= 0 && (t) < len)

static INLINE void cross_entropy(IN(X), IN_INTS(T), IN(W), OUT(R), int outer, int len, int inner, int weighted, int logits, int ignore, REAL smoothing,
                          int group, local REAL *t, local REAL2 *t2) {
    LINES(len, INNER > 1)
    const int lines = outer * INNER, line = group * beside + place, count = line < lines ? len : 0;
    const int at = INNER == 1 ? line * len : line / INNER * len * INNER + line % INNER;
    global const REAL *x = X + X_off + at, *weight = W + W_off;
    REAL v[PER], most = 0, log_sum = 0;
    LOAD_KEPT(v, x, INNER == 1 && FOURS(len, X_off), INNER, -INFINITY)
    if (logits) {
        REAL m = -INFINITY, s = 0;
        _Pragma("unroll") for (int j = 0; j < PER; j++) m = v[j] > m ? v[j] : m;
        for (int k = lane + PER * lanes; k < count; k += lanes) m = x[k * INNER] > m ? x[k * INNER] : m;
        most = tree_max(t, m, slot, lane, lanes, step);
        _Pragma("unroll") for (int j = 0; j < PER; j++) s += exp(v[j] - most); // of one past the line 0, or NaN if all are
        PAIRWISE_REST(s, REAL, s += exp(x[k * INNER] - most))
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
        PAIRWISE_REST(sums, REAL2, const REAL w = weighted ? weight[k] : 1; sums += (REAL2)(w, w * (x[k * INNER] - most)))
        sums = tree_sums(t2, sums, slot, lane, lanes, step);
    }
    if (lane > 0 || count == 0) return;
    global REAL *r = R + R_off + line;
    const int label = T[T_off + line], counts = COUNTS(label);
    REAL loss = 0, w = 0, slope = 0;
    if (counts) {
        w = weighted ? weight[label] : 1;
        loss = (1 - smoothing) * w * (log_sum - (x[label * INNER] - most));
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

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void k_cross_entropy(IN(X), IN_INTS(T), IN(W), OUT(R), int outer, int len, int inner, int weighted, int logits, int ignore, REAL smoothing) {
    local REAL t[2 * GROUP];
    local REAL2 t2[2 * GROUP];
    cross_entropy(X, X_off, T, T_off, W, W_off, R, R_off, outer, len, inner, weighted, logits, ignore, smoothing, get_group_id(0), t, t2);
}
#endif

static INLINE void cross_entropy_grad(IN(X), IN_INTS(T), IN(W), IN(R), IN(G), OUT(D), int outer, int len, int inner, int weighted, int logits, int ignore,
                               REAL smoothing, int each, int group) {
    LINES(len, INNER > 1)
    const int lines = outer * INNER, line = group * beside + place, count = line < lines ? len : 0;
    if (count == 0) return;
    const int at = INNER == 1 ? line * len : line / INNER * len * INNER + line % INNER;
    const int label = T[T_off + line], counts = COUNTS(label), fours = INNER == 1 && FOURS(len, X_off | D_off);
    global const REAL *x = X + X_off + at, *weight = W + W_off, *r = R + R_off + line;
    global REAL *d = D + D_off + at;
    const REAL up = G[G_off + (each ? line : 0)], most = r[2 * lines], log_sum = r[3 * lines], slope = r[4 * lines], even = smoothing / len;
    const REAL own = counts ? (1 - smoothing) * (weighted ? weight[label] : 1) * up : 0;
#define SLOPE(to, k, x)                                                       \
    {                                                                         \
        REAL v_ = logits ? exp((x) - most - log_sum) * slope : 0;             \
        if (smoothing != 0) v_ -= even * (weighted ? weight[k] : 1);          \
        to = counts ? v_ * up - ((k) == label ? own : 0) : 0;                 \
    }
    REAL v[PER];
    LOAD_KEPT(v, x, fours, INNER, 0)
    _Pragma("unroll") for (int j = 0; j < PER; j++)
        if (KEPT(j) < count) SLOPE(v[j], KEPT(j), v[j])
    STORE_KEPT(v, d, fours, INNER)
    for (int k = lane + PER * lanes; k < count; k += lanes) SLOPE(d[k * INNER], k, x[k * INNER])
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void k_cross_entropy_grad(IN(X), IN_INTS(T), IN(W), IN(R), IN(G), OUT(D), int outer, int len, int inner, int weighted, int logits, int ignore,
                          REAL smoothing, int each) {
    cross_entropy_grad(X, X_off, T, T_off, W, W_off, R, R_off, G, G_off, D, D_off, outer, len, inner, weighted, logits, ignore, smoothing, each,
                       get_group_id(0));
}
#endif
