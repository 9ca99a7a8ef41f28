// @depends: common, philox
// Pixels: where they are, and which are drawn.
//
// Pixel (c, r) of a width×height image has its centre at ((c + ½)/width, (r + ½)/height): the same
// place in the picture at every size.

static REAL centre_x(int pixel, int width) { return ((REAL)(pixel % width) + (REAL)0.5) / width; }

static REAL centre_y(int pixel, int width, int height) { return ((REAL)(pixel / width) + (REAL)0.5) / height; }

static void store_centre(global REAL *c, int pixel, int width, int height) {
    c[0] = centre_x(pixel, width);
    c[1] = centre_y(pixel, width, height);
}

// The pixels of samples 4·block … 4·block + 3, of `area` pixels: the words of counter (block, call, 0, 0).
static uint4 sampled_pixels(int block, int area, int seed_lo, int seed_hi, int call) {
    return mul_hi(philox((uint4)((uint)block, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi)), (uint4)((uint)area));
}
