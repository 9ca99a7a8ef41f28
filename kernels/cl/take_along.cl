// @depends: common
// Elements of X [outer, len, inner] by their index along the middle axis, I [outer, n, inner]. Indices lie in [0, len): others
// are passed over.

// Y[o, k, i] = X[o, I[o, k, i], i]
kernel void k_take_along(IN(X), IN_OF(INDEX, I), OUT(Y), int outer, int len, int inner, int n) {
    const int at = get_global_id(0);
    if (at >= outer * n * inner) return;
    const int k = I[I_off + at], o = at / inner / n, i = at % inner;
    Y[Y_off + at] = k >= 0 && k < len ? X[X_off + (o * len + k) * inner + i] : 0;
}

// Y[o, I[o, k, i], i] = X[o, k, i], of indices that differ along a line
kernel void k_place_along(IN(X), IN_OF(INDEX, I), OUT(Y), int outer, int len, int inner, int n) {
    const int at = get_global_id(0);
    if (at >= outer * n * inner) return;
    const int k = I[I_off + at], o = at / inner / n, i = at % inner;
    if (k >= 0 && k < len) Y[Y_off + (o * len + k) * inner + i] = X[X_off + at];
}

// Y[o, I[o, k, i], i] += X[o, k, i]: a work-item adds a line, in the order of k
kernel void k_add_along(IN(X), IN_OF(INDEX, I), OUT(Y), int outer, int len, int inner, int n) {
    const int line = get_global_id(0);
    if (line >= outer * inner) return;
    const int o = line / inner, i = line % inner;
    for (int k = 0; k < n; k++) {
        const int from = (o * n + k) * inner + i, to = I[I_off + from];
        if (to >= 0 && to < len) Y[Y_off + (o * len + to) * inner + i] += X[X_off + from];
    }
}
