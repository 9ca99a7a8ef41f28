// @depends: common
// Element-wise functions of two tensors, forward and gradients: Z[i] = f(X[i], Y[i]),
// DX[i] = ∂f/∂x·G[i], DY[i] = ∂f/∂y·G[i].
//
// One line per function, BINARY(name, forward, dx, dy), in terms of x, y and g. The row of the same
// name in kernels/binary.go is the Go twin. Each makes
//   k_name        X, Y and Z of n elements
//   k_name_row    Y of cols elements, repeated for each of the rows of X and Z: [r*cols + c]
//   k_name_first  only the first element of Y
//   k_name_dx, k_name_dy
// Z may be X or Y, and a gradient may be G: the in-place forms.

#define BINARY(name, forward, dx, dy)                                                          \
    kernel void k_##name(IN(X), IN(Y), OUT(Z), int n) {                                        \
        const int i = get_global_id(0);                                                        \
        if (i >= n) return;                                                                    \
        const REAL x = X[X_off + i], y = Y[Y_off + i];                                         \
        Z[Z_off + i] = (forward);                                                              \
    }                                                                                          \
    kernel void k_##name##_row(IN(X), IN(Y), OUT(Z), int rows, int cols) {                     \
        const int c = get_global_id(0), r = get_global_id(1);                                  \
        if (c >= cols || r >= rows) return;                                                    \
        const REAL x = X[X_off + r * cols + c], y = Y[Y_off + c];                              \
        Z[Z_off + r * cols + c] = (forward);                                                   \
    }                                                                                          \
    kernel void k_##name##_first(IN(X), IN(Y), OUT(Z), int n) {                                \
        const int i = get_global_id(0);                                                        \
        if (i >= n) return;                                                                    \
        const REAL x = X[X_off + i], y = Y[Y_off];                                             \
        Z[Z_off + i] = (forward);                                                              \
    }                                                                                          \
    kernel void k_##name##_dx(IN(X), IN(Y), IN(G), OUT(D), int n) {                            \
        const int i = get_global_id(0);                                                        \
        if (i >= n) return;                                                                    \
        const REAL x = X[X_off + i], y = Y[Y_off + i], g = G[G_off + i];                       \
        D[D_off + i] = (dx);                                                                   \
    }                                                                                          \
    kernel void k_##name##_dy(IN(X), IN(Y), IN(G), OUT(D), int n) {                            \
        const int i = get_global_id(0);                                                        \
        if (i >= n) return;                                                                    \
        const REAL x = X[X_off + i], y = Y[Y_off + i], g = G[G_off + i];                       \
        D[D_off + i] = (dy);                                                                   \
    }

BINARY(add, x + y, g, g)
BINARY(sub, x - y, g, -g)
BINARY(mul, x * y, y * g, x * g)
BINARY(div, x / y, g / y, -x / y / y * g)
BINARY(min, isnan(x) || x < y ? x : y, x > y ? 0 : x == y ? g / 2 : g, y > x ? 0 : x == y ? g / 2 : g)
BINARY(max, isnan(x) || x > y ? x : y, x < y ? 0 : x == y ? g / 2 : g, y < x ? 0 : x == y ? g / 2 : g)
