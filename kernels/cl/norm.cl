// @depends: common
// What norms have in common, and what is left to do of the statistics of a batch's channels, a work-item for each.

// Bits of `form`: the mean is taken off, there are weights, there are biases, their gradients are wanted.
#define CENTRED 1
#define WEIGHTS 2
#define BIASES 4
#define PARTIALS 8

// What is left of a mean: nothing where that is infinite, whose differences are NaN.
static REAL left(REAL rest) { return isnan(rest) ? 0 : rest; }

// The inverse of the deviation: NaN where the squares overflow, whose inverse would make 0 of all that it multiplies.
static REAL inverse_deviation(REAL variance, REAL eps) { return isinf(variance) ? NAN : 1 / sqrt(variance + eps); }

// Joins the moments of k_channel_moments, of parts p of `run` of the `outer` items with `inner` elements, in the order of p:
// M[c] is the mean of channel c, R[c] = 1/sqrt(var + eps). Where there are running statistics, momentum of the mean and of the
// variance with Bessel's correction is added to 1 − momentum of what they were. Source: Chan, Golub, LeVeque, "Updating Formulae and a
// Pairwise Algorithm for Computing Sample Variances", 1979.
#ifndef FUNCTIONS
kernel void k_channel_join(IN(MEAN), IN(SQ), OUT(M), OUT(R), OUT(RM), OUT(RV), int channels, int outer, int inner, int run,
                           int running, REAL eps, REAL momentum) {
    const int c = get_global_id(0);
    if (c >= channels) return;
    REAL mean = MEAN[MEAN_off + c], square = SQ[SQ_off + c], count = (REAL)min(run, outer) * inner;
    for (int p = 1; p * run < outer; p++) {
        const REAL more = (REAL)min(run, outer - p * run) * inner;
        const REAL d = MEAN[MEAN_off + p * channels + c] - mean;
        mean += d * (more / (count + more));
        square += SQ[SQ_off + p * channels + c] + d * d * (count * (more / (count + more)));
        count += more;
    }
    M[M_off + c] = mean;
    R[R_off + c] = inverse_deviation(square / count, eps);
    if (running) {
        RM[RM_off + c] = (1 - momentum) * RM[RM_off + c] + momentum * mean;
        RV[RV_off + c] = (1 - momentum) * RV[RV_off + c] + momentum * (square / (count - 1));
    }
}
#endif
