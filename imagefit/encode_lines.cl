// @depends: common, sincospi
// The encodings of the columns of a picture, and then of its rows, with the bits of sample_gpu.cl: TABLE [width + height, octaves, 2] has
// sine and cosine of 2^(o+1)·π·at, for the centre of column or row i at (i + ½)/width or (i + ½)/height. A work-item makes a pair.

kernel void k_encode_lines(OUT(TABLE), int width, int height, int octaves) {
    const int e = get_global_id(0), line = e / octaves, o = e % octaves;
    if (line >= width + height) return;
    const REAL at = line < width ? ((REAL)line + (REAL)0.5) / width : ((REAL)(line - width) + (REAL)0.5) / height;
    const REAL x = 2 * at * (REAL)(1UL << o);
    TABLE[TABLE_off + 2 * e] = turn_REAL(x, 0);
    TABLE[TABLE_off + 2 * e + 1] = turn_REAL(x, 1);
}
