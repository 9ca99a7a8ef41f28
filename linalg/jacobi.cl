// @depends: common
// What rotations by Jacobi share: svd.cl and eigh.cl come behind it.

#ifdef REAL_IS_DOUBLE
#define EPS 0x1p-52
#else
#define EPS 0x1p-23f
#endif

#define SWEEPS 40 // six to ten are usual

// The pairs of a tournament of n players, whose number is rounded up to an even one: in step s of n − 1, pair i of n/2.
static INLINE int2 pair_of(int n, int s, int i) {
	n += n & 1;
	int a = i == 0 ? n - 1 : (s + i) % (n - 1), b = (s - i + n - 1) % (n - 1);
	return (int2)(min(a, b), max(a, b));
}

// The tangent of the angle, at most 45 degrees, of the rotation that makes 0 of the element apq of a symmetric matrix.
static INLINE REAL tangent(REAL app, REAL aqq, REAL apq) {
	REAL z = (aqq - app) / (2 * apq);
	return copysign(1 / (fabs(z) + sqrt(1 + z * z)), z);
}
