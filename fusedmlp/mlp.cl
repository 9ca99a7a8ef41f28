// The shape of a perceptron that one launch trains, and how its parameters lie in memory.
//
//   H[0] = X;  H[l+1] = f(H[l]·W[l] + b[l]) for l in 0:LAYERS;  Z = H[LAYERS]·W[LAYERS];  loss = Σ (Z − T)²
//
// or, with ABSOLUTE defined, Σ |Z − T|, whose gradient at 0 is 0. With INPUT_GRAD defined, the gradient of X goes
// to DX.
//
// f is the leaky ReLU of slope SLOPE. X: [s*INPUTS + i]  T: [s*OUTPUTS + o]. W holds all parameters, each from a
// multiple of ALIGN on (X, W and PART themselves from a multiple of 4): W[0], b[0], …, W[LAYERS-1], b[LAYERS-1],
// W[LAYERS], row-major [inputs of the layer, outputs]. The samples are shared out among the work-groups in runs
// of blocks of BLOCK; group g writes its share of the gradient to PART[g*SIZE + …], in the layout of W, and of
// the loss to LOSS[g]. Adding the shares in the order of g gives the same bits on every run.

#ifndef INPUTS
#define INPUTS 64 // a multiple of 4
#endif
#ifndef WIDTH
#define WIDTH 64 // of the hidden layers, a multiple of 16
#endif
#ifndef LAYERS
#define LAYERS 3 // hidden ones
#endif
#ifndef OUTPUTS
#define OUTPUTS 3 // at most 16
#endif
#ifndef SLOPE
#define SLOPE 0.1
#endif
#ifndef BLOCK
#define BLOCK 16 // 8, 16 or 32
#endif
#define ALIGN 128 // elements
#define ALIGNED(n) (((n) + ALIGN - 1) / ALIGN * ALIGN)
#define FAN_IN(l) ((l) == 0 ? INPUTS : WIDTH)
#define WEIGHTS(l) ((l) == 0 ? 0 : ALIGNED(INPUTS * WIDTH) + ALIGNED(WIDTH) + ((l) - 1) * (ALIGNED(WIDTH * WIDTH) + ALIGNED(WIDTH)))
#define BIAS(l) (WEIGHTS(l) + ALIGNED(FAN_IN(l) * WIDTH))
#define SIZE (WEIGHTS(LAYERS) + ALIGNED(WIDTH * OUTPUTS))

// On matrix units, the input that is unit i of the first layer: of each 16 a lane has four neighbours, which are one load.
#define INPUT(i) ((i) / 16 * 16 + (i) % 8 / 2 * 4 + (i) / 8 % 2 * 2 + (i) % 2)

#ifdef ABSOLUTE
#define LOSS_OF(e) fabs(e)
#define LOSS_SLOPE(e) ((e) > 0 ? (REAL)1 : (e) < 0 ? (REAL)-1 : (e))
#else
#define LOSS_OF(e) ((e) * (e))
#define LOSS_SLOPE(e) (2 * (e))
#endif
