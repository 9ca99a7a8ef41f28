// Discrete Fourier transforms. Complex numbers are pairs of reals.
//
// @depends: common

// How many numbers a line may have.
#ifndef MOST
#define MOST 1024
#endif

static INLINE REAL2 times(REAL2 a, REAL2 b) { return (REAL2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// The radix of the next stage of a transform of n numbers: the least odd factor, then 4, then 2. After the even stages what is
// 0 for real numbers, the imaginary part in the middle, is 0 without a rounding.
static INLINE int radix_of(int n) {
	const int odd = n / (n & -n);
	if (odd == 1) return n % 4 == 0 ? 4 : 2;
	int r = 3;
	while (odd % r != 0) r += 2;
	return r;
}

// X [outer, n, m, inner, 2] to Y [outer, m, n, inner, 2], scale times the transforms along n: number k of line j of m is
// turned by k·j/(n·m) of a circle, so that transforms along m complete one of length n·m. ROOTS [n, 2] are the roots of
// unity, whose sign is that of the transform. TURNS [(fine + n·m/fine), 2] are the first `fine` ones of n·m, and those at
// multiples of fine; they are not read if m is 1. sign is 1 or −1.
//
// The way of Stockham. A work-group has a line; its work-items share the butterflies of a stage.
kernel void k_fft(IN(X), OUT(Y), IN(ROOTS), IN(TURNS), int n, int m, int inner, int lines, int fine, int sign, REAL scale) {
	local REAL2 one[MOST], two[MOST];
	local REAL2 *from = one, *to = two;
	int line = get_group_id(0), lane = get_local_id(0), lanes = get_local_size(0);
	int i = line % inner, j = line / inner % m, outer = line / inner / m;
	global const ELEM *x = X + X_off + 2 * (((size_t)outer * n * m + j) * inner + i);
	global ELEM *y = Y + Y_off + 2 * (((size_t)outer * m + j) * n * inner + i);
	global const ELEM *roots = ROOTS + ROOTS_off, *turns = TURNS + TURNS_off;
	for (int t = lane; t < n; t += lanes) from[t] = vload2((size_t)t * m * inner, x);
	for (int ns = 1; ns < n;) {
		int r = radix_of(n / ns), apart = n / r, step = apart / ns;
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int b = lane; b < apart; b += lanes) {
			int k = b % ns, at = (b - k) * r + k;
			if (r == 4) {
				REAL2 a0 = from[b], a1 = times(from[b + apart], vload2(k * step, roots)),
					a2 = times(from[b + 2 * apart], vload2(2 * k * step, roots)), a3 = times(from[b + 3 * apart], vload2(3 * k * step, roots));
				REAL2 s02 = a0 + a2, d02 = a0 - a2, s13 = a1 + a3, d13 = a1 - a3, turned = sign * (REAL2)(-d13.y, d13.x);
				to[at] = s02 + s13;
				to[at + ns] = d02 + turned;
				to[at + 2 * ns] = s02 - s13;
				to[at + 3 * ns] = d02 - turned;
				continue;
			}
			for (int q = 0; q < r; q++) {
				REAL2 s = from[b];
				for (int t = 1; t < r; t++) s += times(from[b + t * apart], vload2(t * (k * step + q * apart) % n, roots));
				to[at + q * ns] = s;
			}
		}
		local REAL2 *was = from;
		from = to;
		to = was;
		ns *= r;
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int k = lane; k < n; k += lanes) {
		REAL2 v = from[k] * scale;
		if (m > 1) v = times(v, times(vload2(k * j % fine, turns), vload2(fine + k * j / fine, turns)));
		vstore2(v, (size_t)k * inner, y);
	}
}

// X [outer, n, inner, 2] to Y [outer, size, inner, 2], the first numbers times those of W [size, 2] and a scale; 0 where X
// has none. count is outer·size·inner.
kernel void k_fft_weigh(IN(X), IN(W), OUT(Y), int n, int size, int inner, int count, REAL scale) {
	int id = get_global_id(0);
	if (id >= count) return;
	int i = id % inner, j = id / inner % size, outer = id / inner / size;
	REAL2 v = 0;
	if (j < n) v = times(vload2(((size_t)outer * n + j) * inner + i, X + X_off), vload2(j, W + W_off)) * scale;
	vstore2(v, id, Y + Y_off);
}
