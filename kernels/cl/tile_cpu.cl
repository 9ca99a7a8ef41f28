// Products of a few rows and a tile of 32 columns, for kernels for CPUs that make floats of integers first. The tile is small enough
// for the first-level cache.
#define TILE_COLUMNS 32

// Adds products to the sums of 4 rows, float16 [4][2]. Element q of row r is a[r][q]; tile is `steps` rows, float16 [][2].
#define ADD_TILE(sum, a, tile, steps) \
    for (int q_ = 0; q_ < (steps); q_++) { \
        const float16 w0_ = tile[q_][0], w1_ = tile[q_][1]; \
        _Pragma("unroll") for (int r_ = 0; r_ < 4; r_++) { \
            sum[r_][0] = fma((float16)a[r_][q_], w0_, sum[r_][0]); \
            sum[r_][1] = fma((float16)a[r_][q_], w1_, sum[r_][1]); \
        } \
    }
