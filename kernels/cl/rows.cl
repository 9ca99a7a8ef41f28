// @depends: common
// What generated kernels of rows reduce two elements with, vectors or not. A NaN wins, but for JOIN_MAX_NUMBER, which passes one of b over.

#define JOIN_SUM(a, b) ((a) + (b))
#define JOIN_PROD(a, b) ((a) * (b))
#define JOIN_MAX(a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#define JOIN_MIN(a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))
#define JOIN_MAX_NUMBER(a, b) ((b) > (a) ? (b) : (a))
