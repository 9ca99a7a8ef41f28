// @depends: common, sine, tanh
// Element-wise functions of one tensor, forward and gradient: Y[i] = f(X[i]), D[i] = f'(X[i])·G[i].
//
// One line per function, UNARY(name, forward, gradient), in terms of x = X[i], y = Y[i], g = G[i] and
// the scalars a and b. Each makes the kernels k_name and k_name_grad; the row of the same name in
// kernels/unary.go is the Go twin. Y may be X, and D may be G: the in-place forms.

#define UNARY(name, forward, gradient)                                                         \
    kernel void k_##name(IN(X), OUT(Y), int n, REAL a, REAL b) {                               \
        const int i = get_global_id(0);                                                        \
        if (i >= n) return;                                                                    \
        const REAL x = X[X_off + i];                                                           \
        Y[Y_off + i] = (forward);                                                              \
    }                                                                                          \
    kernel void k_##name##_grad(IN(X), IN(Y), IN(G), OUT(D), int n, REAL a, REAL b) {          \
        const int i = get_global_id(0);                                                        \
        if (i >= n) return;                                                                    \
        const REAL x = X[X_off + i], y = Y[Y_off + i], g = G[G_off + i];                       \
        D[D_off + i] = (gradient);                                                             \
    }

UNARY(neg, -x, -g)
UNARY(abs, fabs(x), x > 0 ? g : x < 0 ? -g : x == 0 ? 0 : x)
UNARY(sign, x > 0 ? 1 : x < 0 ? -1 : x, 0)
UNARY(sqrt, sqrt(x), g / (2 * y))
UNARY(exp, exp(x), y * g)
UNARY(log, log(x), g / x)
UNARY(square, x * x, 2 * x * g)
UNARY(relu, x < 0 ? 0 : x, x > 0 ? g : 0)
UNARY(leaky_relu, x > 0 ? x : a * x, x > 0 ? g : a * g)
UNARY(sine, sine_of(a * x, 0), a * sine_of(a * x, 1) * g)
UNARY(tanh, TANH(REAL, x), (1 - y * y) * g)
UNARY(sigmoid, 1 / (1 + exp(-x)), y * (1 - y) * g)
UNARY(softplus, fmax(x, 0) + log1p(exp(-fabs(x))), g / (1 + exp(-x)))
UNARY(pow, pow(x, a), a == 0 ? 0 : a * pow(x, a - 1) * g)
UNARY(clamp, (x < a ? a : x) > b ? b : x < a ? a : x, x < a || x > b ? 0 : g)
UNARY(add_scalar, x + a, g)
UNARY(sub_scalar, x - a, g)
UNARY(mul_scalar, x * a, a * g)
UNARY(div_scalar, x / a, g / a)
UNARY(max_scalar, x < a ? a : x, x < a ? 0 : g)
UNARY(min_scalar, x > a ? a : x, x > a ? 0 : g)
UNARY(rsub_scalar, a - x, -g)
UNARY(rdiv_scalar, a / x, -y / x * g)
