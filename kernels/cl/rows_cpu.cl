// @depends: common, rows, vector, pairwise
// What generated kernels of rows need on CPUs: contiguous rows in vectors of sixteen, columns sixteen beside each other.

#define LANES16 (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)

// How many blocks of columns lie beside each other; of rows 1.
#define BLOCKS (inner == 1 ? 1 : (inner + 15) / 16)

// ROW or COLUMNS of the units [from, to): rows, or blocks of `width` columns, of lines that are cut into `parts` of `chunk` elements.
// `o` is the first line, or part of one, of each, `at` its first element, and `count` how many it has.
#define UNITS(chunk, parts, ROW, COLUMNS)                                                                        \
    const int blocks = BLOCKS, cuts = parts;                                                                     \
    for (int u = from; u < to; u++) {                                                                            \
        const int row = u / blocks, i = u % blocks * 16, o = row * inner + i, begin = row % cuts * (chunk);      \
        const int at = (row / cuts * len + begin) * inner + i, count = min((chunk), len - begin);                \
        const int width = min(16, inner - i);                                                                    \
        if (inner == 1) ROW;                                                                                     \
        else COLUMNS;                                                                                            \
    }

// The reduction of a vector of sixteen, by halves.
#define WHOLE(name, T, JOIN)                                      \
    static T name(T##16 v) {                                      \
        const T##8 a = JOIN(v.lo, v.hi);                          \
        const T##4 b = JOIN(a.lo, a.hi);                          \
        const T##2 c = JOIN(b.lo, b.hi);                          \
        return JOIN(c.x, c.y);                                    \
    }
#ifdef REAL_IS_DOUBLE
WHOLE(prod16, double, JOIN_PROD)
WHOLE(top16, double, JOIN_MAX)
WHOLE(bottom16, double, JOIN_MIN)
#else
WHOLE(prod16, float, JOIN_PROD)
WHOLE(top16, float, JOIN_MAX)
WHOLE(bottom16, float, JOIN_MIN)
#endif
WHOLE(sum16_int, int, JOIN_SUM)
WHOLE(prod16_int, int, JOIN_PROD)
WHOLE(top16_int, int, JOIN_MAX)
WHOLE(bottom16_int, int, JOIN_MIN)

// The first `count` of sixteen elements are those of now, the others those of before.
static REAL16 only16(REAL16 now, REAL16 before, int count) {
    if (count >= 16) return now;
#ifdef REAL_IS_DOUBLE
    return select(before, now, convert_long16(LANES16 < (int16)count));
#else
    return select(before, now, LANES16 < (int16)count);
#endif
}

static int16 only_ints16(int16 now, int16 before, int count) {
    return count >= 16 ? now : select(before, now, LANES16 < (int16)count);
}

// Writes the first `count` of sixteen ints from p on.
static void store_ints16(int16 v, global INDEX *p, int count) {
    int each[16];
    vstore16(v, 0, each);
    for (int i = 0; i < min(16, count); i++) p[i] = each[i];
}

// The first `count` of sixteen neighbours from p on, 0 past them.
static int16 load_ints16(global const int *p, int count) {
    if (count >= 16) return vload16(0, p);
    int each[16];
    for (int i = 0; i < 16; i++) each[i] = i < count ? p[i] : 0;
    return vload16(0, each);
}

// The elements of `count` neighbours from k on by channel: of `span` each, p having one for each channel. c is that of element k, and
// `next` the first of the next one.
static REAL16 channel16(global const REAL *p, int k, int count, int span, int c, int next) {
    if (span == 1) return load16(p + k, count, 0);
    if (k + 16 <= next || k + count <= next) return p[c];
    REAL each[16];
    for (int i = 0; i < 16; i++) each[i] = i < count ? p[(k + i) / span] : 0;
    return vload16(0, each);
}

// Of each of `width` lines the element at an index of its own below len, which lies that many steps after the first, and the lines
// `apart`; 0 where there is none.
static REAL16 pick16(global const REAL *p, int16 at, int len, int step, int apart, int width) {
    int index[16];
    REAL each[16];
    vstore16(at, 0, index);
    for (int i = 0; i < 16; i++) each[i] = i < width && 0 <= index[i] && index[i] < len ? p[index[i] * step + i * apart] : 0;
    return vload16(0, each);
}
