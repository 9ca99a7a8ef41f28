// @depends: common
// What a scatter makes of an element and what comes to it. A NaN is the least and the greatest.

#define SCATTER_SET 0
#define SCATTER_ADD 1
#define SCATTER_MUL 2
#define SCATTER_MIN 3
#define SCATTER_MAX 4

static ELEM combined(ELEM y, ELEM g, int how) {
    switch (how) {
    case SCATTER_ADD: return y + g;
    case SCATTER_MUL: return y * g;
    case SCATTER_MIN: return y != y || y < g ? y : g;
    case SCATTER_MAX: return y != y || y > g ? y : g;
    }
    return g;
}
