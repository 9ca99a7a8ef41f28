// @depends: common
// Reductions of lines of integers of type ELEM, which are computed in ACC: long, or ulong. X is [outer, len, inner]; the lines
// are cut into parts, which a work-item reduces each. A part is `chunk` elements side by side or, if `apart`, those that
// are `parts` elements apart: neighbouring work-items of a GPU then read neighbouring elements.

#ifndef ACC
#define ACC long
#endif

#define SUM 0
#define PROD 1
#define COUNT 2 // of elements that are not 0

// The line of work-item u of [outer, parts, inner]: its elements from k to below `end` are `step` apart.
#define PART                                                                                         \
    const int u = get_global_id(0);                                                                   \
    if (u >= outer * parts * inner) return;                                                           \
    const int part = u / inner % parts, step = apart ? parts : 1;                                     \
    const int from = apart ? part : min(len, part * chunk), end = apart ? len : min(len, from + chunk); \
    global const ELEM *x = X + X_off + u / (parts * inner) * len * inner + u % inner;

// Y [outer, parts, inner] is the sum, the product or the number of elements.
kernel void k_sum_ints(IN(X), OUT_OF(long, Y), int outer, int len, int inner, int parts, int chunk, int apart, int kind) {
    PART
    ACC y = kind == PROD;
    if (kind == SUM && inner == 1 && step == 1) {
        for (int k = from; k < end; k++) y += x[k];
    } else if (kind == SUM) {
        for (int k = from; k < end; k += step) y += x[k * inner];
    } else if (kind == PROD) {
        for (int k = from; k < end; k += step) y *= x[k * inner];
    } else {
        for (int k = from; k < end; k += step) y += x[k * inner] != 0;
    }
    Y[Y_off + u] = y;
}

// Y is the greatest element of each part, or the least, and I its first index in the line: that of X or, if these are `given`,
// of the indices J.
kernel void k_extreme_ints(IN(X), IN_OF(long, J), OUT(Y), OUT_OF(long, I), int outer, int len, int inner, int parts, int chunk,
                           int apart, int least, int given) {
    PART
    global const long *j = J + J_off + u / (parts * inner) * len * inner + u % inner;
    ELEM best = x[from * inner];
    long at = given ? j[from * inner] : from;
    for (int k = from + step; k < end; k += step) {
        const ELEM v = x[k * inner];
        if (least ? v <= best : v >= best) {
            const long place = given ? j[k * inner] : k;
            if (v != best || place < at) best = v, at = place;
        }
    }
    Y[Y_off + u] = best;
    I[I_off + u] = at;
}
