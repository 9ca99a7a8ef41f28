// @depends: common, tanh
// Activations that other kernels apply on the way: f(z), and f'·g in terms of y = f(z), for each width of
// vector that calls them. The codes are those of kernels/activation.go, the formulas those of unary.cl.

#define ACT_NONE 0
#define ACT_RELU 1
#define ACT_LEAKY_RELU 2 // of a slope ≥ 0: the sign of y must tell that of z
#define ACT_TANH 3
#define ACT_SIGMOID 4

#define ACTIVATION(T)                                                        \
    static T activate_##T(T z, int act, REAL slope) {                        \
        switch (act) {                                                       \
        case ACT_RELU: return z < (T)0 ? (T)0 : z;                           \
        case ACT_LEAKY_RELU: return z > (T)0 ? z : z * (T)slope;             \
        case ACT_TANH: return TANH(T, z);                                    \
        case ACT_SIGMOID: return (T)1 / ((T)1 + exp(-z));                    \
        }                                                                    \
        return z;                                                            \
    }                                                                        \
    static T activation_grad_##T(T y, T g, int act, REAL slope) {            \
        switch (act) {                                                       \
        case ACT_RELU: return y > (T)0 ? g : (T)0;                           \
        case ACT_LEAKY_RELU: return y > (T)0 ? g : g * (T)slope;             \
        case ACT_TANH: return ((T)1 - y * y) * g;                            \
        case ACT_SIGMOID: return y * ((T)1 - y) * g;                         \
        }                                                                    \
        return g;                                                            \
    }

ACTIVATION(REAL)
ACTIVATION(REAL4)
ACTIVATION(REAL16)
