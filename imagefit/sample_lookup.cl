// @depends: common, philox
// The batch of sample_gpu.cl, whose features are looked up in what encode_lines.cl makes: a work-item draws pixel i of IMAGE
// [height*width, channels], and writes its colours to V [n, channels], and to AT [n, 2], which starts at an even offset, where its column
// and its row begin in the table.

static void sample_lookup(IN(IMAGE), OUT_INTS(AT), OUT(V), int n, int width, int height, int channels, int octaves,
                          int seed_lo, int seed_hi, int call) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const uint4 four = philox((uint4)((uint)i / 4, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi));
    const uint word = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
    const int pixel = mul_hi(word, (uint)(width * height));
    *(global int2 *)(AT + AT_off + 2 * i) = (int2)(pixel % width, width + pixel / width) * (2 * octaves);
    global const REAL *from = IMAGE + IMAGE_off + pixel * channels;
    global REAL *to = V + V_off + i * channels;
#pragma unroll 4
    for (int k = 0; k < channels; k++) to[k] = from[k];
}

#ifndef FUNCTIONS
kernel void k_sample_lookup(IN(IMAGE), OUT_INTS(AT), OUT(V), int n, int width, int height, int channels, int octaves,
                            int seed_lo, int seed_hi, int call) {
    sample_lookup(IMAGE, IMAGE_off, AT, AT_off, V, V_off, n, width, height, channels, octaves, seed_lo, seed_hi, call);
}
#endif
