// Eigenvalues and eigenvectors of symmetric matrices by the method of Jacobi.

// X [count, n, n], n ≥ 1, of which the lower triangle is read, to P [count, n·n + n]: the eigenvectors as rows, and the
// eigenvalues in ascending order. Where the triangle has NaN or an infinity, P is NaN. W [count, n, n] and C [count, n + 1]
// are for the kernel's own use, and 0 in the end. A work-group has a matrix; its work-items share the pairs of rows.
kernel void k_eigh(IN(X), OUT(P), OUT(W), OUT(C), int n) {
	local int moved;
	size_t group = get_group_id(0), square = (size_t)n * n;
	global const ELEM *x = X + X_off + group * square;
	global ELEM *v = P + P_off + group * (square + n), *lambda = v + square;
	global ELEM *w = W + W_off + group * square, *turn = C + C_off + group * (n + 1);
	int lane = get_local_id(0), lanes = get_local_size(0);
	REAL most = 0, sum = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++) {
			most = fmax(most, fabs(x[(size_t)i * n + j]));
			sum += x[(size_t)i * n + j] * 0;
		}
	REAL scale = most > 0 ? most : (REAL)1, bad = sum; // bad is 0, or NaN
	sum = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++) {
			REAL e = x[(size_t)i * n + j] / scale;
			sum += i == j ? e * e : 2 * e * e;
		}
	REAL least = EPS * sqrt(sum) / (2 * n);
	for (int k = lane; k < n * n; k += lanes) {
		int i = max(k / n, k % n), j = min(k / n, k % n);
		w[k] = x[(size_t)i * n + j] / scale;
		v[k] = k / n == k % n;
	}
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
		if (lane == 0) moved = 0;
		for (int step = 1; step < 2 * n - 2; step++) {
			int first = least_of(n, step), last = most_of(step);
			barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
			for (int p = first + lane; p <= last; p += lanes) {
				int q = step - p;
				global REAL *to = turn + 2 * (p - first);
				to[0] = 0; // the sine
				global ELEM *wp = w + (size_t)p * n, *wq = w + (size_t)q * n;
				REAL apq = wp[q];
				if (!(fabs(apq) > least)) continue;
				moved = 1;
				REAL t = tangent(wp[p], wq[q], apq), co = 1 / sqrt(1 + t * t), si = co * t;
				to[0] = si;
				to[1] = co;
				global ELEM *vp = v + (size_t)p * n, *vq = v + (size_t)q * n;
				for (int k = 0; k < n; k++) {
					REAL x = wp[k], y = wq[k];
					wp[k] = co * x - si * y;
					wq[k] = si * x + co * y;
					x = vp[k];
					y = vq[k];
					vp[k] = co * x - si * y;
					vq[k] = si * x + co * y;
				}
			}
			barrier(CLK_GLOBAL_MEM_FENCE);
			for (int r = lane; r < n; r += lanes)
				for (int p = first; p <= last; p++) {
					REAL si = turn[2 * (p - first)], co = turn[2 * (p - first) + 1];
					if (si == 0) continue;
					int q = step - p;
					REAL x = w[(size_t)r * n + p], y = w[(size_t)r * n + q];
					w[(size_t)r * n + p] = r == q ? 0 : co * x - si * y;
					w[(size_t)r * n + q] = r == p ? 0 : si * x + co * y;
				}
		}
		barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
		if (!moved) break;
	}
	for (int i = lane; i < n; i += lanes) lambda[i] = w[(size_t)i * n + i] * scale;
	for (int i = 0; i < n; i++) {
		barrier(CLK_GLOBAL_MEM_FENCE);
		int best = i;
		for (int j = i + 1; j < n; j++)
			if (lambda[j] < lambda[best]) best = j;
		REAL s = lambda[best], other = lambda[i];
		barrier(CLK_GLOBAL_MEM_FENCE);
		if (best == i) continue;
		for (int k = lane; k < n; k += lanes) {
			REAL was = v[(size_t)i * n + k];
			v[(size_t)i * n + k] = v[(size_t)best * n + k];
			v[(size_t)best * n + k] = was;
		}
		if (lane == 0) {
			lambda[best] = other;
			lambda[i] = s;
		}
	}
	barrier(CLK_GLOBAL_MEM_FENCE);
	for (int k = lane; k < n * n; k += lanes) {
		w[k] = 0;
		if (bad != 0) v[k] = NAN;
	}
	for (int k = lane; k < n; k += lanes)
		if (bad != 0) lambda[k] = NAN;
	for (int k = lane; k <= n; k += lanes) turn[k] = 0;
}
