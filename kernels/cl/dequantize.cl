// @depends: common, quantized
// The element of row i and column j of a matrix W of quantized.cl as a float.
static REAL element(global const ELEMENT *W, global const REAL *S, global const REAL *Z, int i, int j, int k, int group,
    int zeros) {
    const int panel = j / PANEL, at = j % PANEL;
    const REAL w = NUMBER(W[panel * PANEL_ELEMENTS(k) + i / ROWS_OF_ELEMENT * PANEL + at], i);
    const int s = (panel * GROUPS(k, group) + (group ? i / group : 0)) * PANEL + at;
    return SCALED(w, zeros ? Z[s] : 0, S[s]);
}

// Y [k, n] = W as floats, or with `transposed` Y [n, k] = Wᵀ, for a matrix W: a work-item for each element.
kernel void k_dequantize(IN_OF(ELEMENT, W), IN(S), IN(Z), OUT(Y), int k, int n, int group, int zeros, int transposed) {
    const int j = get_global_id(transposed ? 1 : 0), i = get_global_id(transposed ? 0 : 1);
    if (i >= k || j >= n) return;
    Y[Y_off + (transposed ? j * k + i : i * n + j)] = element(W + W_off, S + S_off, Z + Z_off, i, j, k, group, zeros);
}

// Y [count, k] = the columns of W, as floats, that AT names, 0 for one that there is not: a work-item for each element.
kernel void k_dequantize_columns(IN_OF(ELEMENT, W), IN(S), IN(Z), IN_INTS(AT), OUT(Y), int count, int k, int n, int group,
    int zeros) {
    const int i = get_global_id(0), row = get_global_id(1);
    if (i >= k || row >= count) return;
    const int j = AT[AT_off + row];
    Y[Y_off + row * k + i] = j >= 0 && j < n ? element(W + W_off, S + S_off, Z + Z_off, i, j, k, group, zeros) : 0;
}
