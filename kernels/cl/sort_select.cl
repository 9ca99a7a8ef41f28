// @depends: sort
// The choice of an element by its rank, without a sort, for CPUs: one work-item per work-group. A digit of its key after the other is
// found, from the highest on, by counting the digits of those that agree with it so far.

#define KEY_BITS ((int)sizeof(KEY) * 8)

// Y and J [rows] are the lower median of each row of X [rows, n], and its index; the first NaN, if there is one. Of equal elements the
// index is that which a stable sort has there.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_select_median(IN(X), OUT(Y), OUT_OF(INDEX, J), int rows, int n) {
    const int g = get_group_id(0), groups = get_num_groups(0);
    local int counts[256];
    for (int row = (long)rows * g / groups; row < (long)rows * (g + 1) / groups; row++) {
        global const ELEM *x = X + X_off + (long)row * n;
        int rank = (n - 1) / 2, nan = 0;
        KEY key = 0, found = 0; // the digits found so far, and a mask of them
        for (int shift = KEY_BITS - 8; shift >= 0; shift -= 8) {
            for (int d = 0; d < 256; d++) counts[d] = 0;
            for (int k = 0; k < n; k++) {
                const KEY digits = sort_key(x[k], 0);
                if ((digits & found) == key) counts[(int)(digits >> shift) & 255]++;
                nan |= IS_NAN(x[k]);
            }
            int d = 0;
            for (; d < 255 && rank >= counts[d]; d++) rank -= counts[d];
            key |= (KEY)d << shift;
            found |= (KEY)255 << shift;
        }
        int at = 0;
        if (nan) {
            while (at < n - 1 && !IS_NAN(x[at])) at++;
        } else {
            for (; at < n - 1; at++) {
                if (sort_key(x[at], 0) == key && rank-- == 0) break;
            }
        }
        Y[Y_off + row] = x[at];
        J[J_off + row] = at;
    }
}
