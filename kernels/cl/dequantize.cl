// @depends: common, quantized
// Y [k, n] = W as floats, for a matrix W of quantized.cl: a work-item for each element.
kernel void k_dequantize(IN_BYTES(W), IN(S), IN(Z), OUT(Y), int k, int n, int group, int zeros) {
    const int j = get_global_id(0), i = get_global_id(1);
    if (i >= k || j >= n) return;
    const int panel = j / PANEL, at = j % PANEL;
    const int w = INTEGER(int, (char)W[W_off + panel * PANEL_BYTES(k) + i / ROWS_OF_BYTE * PANEL + at], i);
    const int s = (panel * GROUPS(k, group) + (group ? i / group : 0)) * PANEL + at;
    Y[Y_off + i * n + j] = (w - (zeros ? Z[Z_off + s] : 0)) * S[S_off + s];
}
