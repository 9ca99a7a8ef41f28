// @depends: common
// What rotations by Jacobi share: svd.cl and eigh.cl come behind it.

#ifdef REAL_IS_DOUBLE
#define EPS 0x1p-52
#else
#define EPS 0x1p-23f
#endif

#define SWEEPS 40 // after so many ends an iteration that has not converged

// A sweep rotates rows p and q of all pairs p < q, in the order of p, and of q for one p. Pairs of the same sum of p and q
// have no row in common, and come in any order: a step, of which there are 2n − 3, has those of a sum. p is least_of to
// most_of it.
static INLINE int least_of(int n, int sum) { return max(0, sum - n + 1); }
static INLINE int most_of(int sum) { return (sum - 1) / 2; }

// The tangent of the angle, at most 45 degrees, of the rotation that makes 0 of the element apq of a symmetric matrix.
static INLINE REAL tangent(REAL app, REAL aqq, REAL apq) {
	REAL z = (aqq - app) / (2 * apq);
	return copysign(1 / (fabs(z) + sqrt(1 + z * z)), z);
}
