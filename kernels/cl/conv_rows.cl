// @depends: common, memory
// Rows of the input of a convolution, as CPUs copy them to private memory.

// Copies count elements that are `stride` apart, in vectors where they are neighbours, or every second is.
static void copy_run(REAL *to, global const X_MEMORY *from, int count, int stride) {
    int i = 0;
    if (stride == 1) {
        for (; i + 16 <= count; i += 16) IN_MEMORY(, REAL16, to + i) = X_LOAD16(from + i);
        for (; i + 4 <= count; i += 4) vstore4(X_FROM4(vload4(0, from + i)), 0, to + i);
    }
    if (stride == 2) { // the last element that a vector reads lies before one that is copied
        for (; i + 16 < count; i += 16) {
            const REAL16 a = X_LOAD16(from + 2 * i), b = X_LOAD16(from + 2 * i + 16);
            IN_MEMORY(, REAL16, to + i) = (REAL16)(a.even, b.even);
        }
        for (; i + 4 < count; i += 4) vstore4(X_FROM4(vload8(0, from + 2 * i).even), 0, to + i);
    }
    for (; i < count; i++) to[i] = X_FROM(from[i * stride]);
}
