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

// The pixel of sample i, of `area` pixels: word i%4 of counter (i/4, call, 0, 0).
static int sampled_pixel(int i, int area, int seed_lo, int seed_hi, int call) {
    const uint4 w = philox((uint4)((uint)i / 4, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi));
    const uint word = i % 4 == 0 ? w.x : i % 4 == 1 ? w.y : i % 4 == 2 ? w.z : w.w;
    return mul_hi(word, (uint)area);
}
