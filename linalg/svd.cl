// The singular value decomposition by the one-sided method of Hestenes and Jacobi.

// X [count, m, n], m ≥ n ≥ 1, to P [count, n·m + n + n·n]: Uᵀ [n, m], the singular values in descending order, and
// Vᵀ [n, n]. Where X has NaN or an infinity, P is NaN. A work-group has a matrix; its work-items share the pairs of columns.
kernel void k_svd(IN(X), OUT(P), int m, int n) {
	local int moved;
	global const ELEM *x = X + X_off + (size_t)get_group_id(0) * m * n;
	size_t size = (size_t)n * m + n + (size_t)n * n;
	global ELEM *u = P + P_off + get_group_id(0) * size, *sigma = u + (size_t)n * m, *v = sigma + n;
	int lane = get_local_id(0), lanes = get_local_size(0);
	REAL most = 0, sum = 0;
	for (int i = 0; i < m * n; i++) {
		most = fmax(most, fabs(x[i]));
		sum += x[i] * 0;
	}
	if (sum != 0) { // of all work-items
		for (size_t i = lane; i < size; i += lanes) u[i] = NAN;
		return;
	}
	REAL scale = most > 0 ? most : (REAL)1;
	sum = 0;
	for (int i = 0; i < m * n; i++) sum += x[i] / scale * (x[i] / scale);
	REAL least = EPS * EPS * sum, near = EPS * EPS * m;
	for (int i = lane; i < m * n; i += lanes) u[i] = x[(size_t)(i % m) * n + i / m] / scale;
	for (int i = lane; i < n * n; i += lanes) v[i] = i / n == i % n;
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
		if (lane == 0) moved = 0;
		for (int i = lane; i < n; i += lanes) {
			REAL s = 0;
			for (int k = 0; k < m; k++) s += u[(size_t)i * m + k] * u[(size_t)i * m + k];
			sigma[i] = s; // the square of the length, during a sweep
		}
		for (int step = 1; step < 2 * n - 2; step++) {
			barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
			for (int p = least_of(n, step) + lane; p <= most_of(step); p += lanes) {
				int q = step - p;
				global ELEM *up = u + (size_t)p * m, *uq = u + (size_t)q * m;
				REAL a = sigma[p], b = sigma[q], c = 0;
				for (int k = 0; k < m; k++) c += up[k] * uq[k];
				if (c * c <= near * (a * b) || fmin(a, b) <= least) continue;
				moved = 1;
				REAL t = tangent(a, b, c), co = 1 / sqrt(1 + t * t), si = co * t;
				a -= t * c;
				b += t * c;
				bool turned = a < b; // the longer one comes first
				sigma[p] = turned ? b : a;
				sigma[q] = turned ? a : b;
				if (turned) {
					REAL was = co;
					co = si;
					si = -was;
				}
				for (int k = 0; k < m; k++) {
					REAL x = up[k], y = uq[k];
					up[k] = co * x - si * y;
					uq[k] = si * x + co * y;
				}
				global ELEM *vp = v + (size_t)p * n, *vq = v + (size_t)q * n;
				for (int k = 0; k < n; k++) {
					REAL x = vp[k], y = vq[k];
					vp[k] = co * x - si * y;
					vq[k] = si * x + co * y;
				}
			}
		}
		barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
		if (!moved) break;
	}
	for (int i = lane; i < n; i += lanes) {
		REAL s = 0;
		for (int k = 0; k < m; k++) s += u[(size_t)i * m + k] * u[(size_t)i * m + k];
		sigma[i] = sqrt(s);
	}
	int rank = 0; // the first of those that are 0 but for rounding
	for (int i = 0; i < n; i++) {
		barrier(CLK_GLOBAL_MEM_FENCE);
		int best = i;
		for (int j = i + 1; j < n; j++)
			if (sigma[j] > sigma[best]) best = j;
		REAL s = sigma[best], other = sigma[i];
		barrier(CLK_GLOBAL_MEM_FENCE);
		if (s * s > least) rank = i + 1;
		for (int k = lane; k < m; k += lanes) {
			REAL was = u[(size_t)i * m + k];
			u[(size_t)i * m + k] = u[(size_t)best * m + k] / (s * s > least ? s : 1);
			if (best != i) u[(size_t)best * m + k] = was;
		}
		for (int k = lane; k < n && best != i; k += lanes) {
			REAL was = v[(size_t)i * n + k];
			v[(size_t)i * n + k] = v[(size_t)best * n + k];
			v[(size_t)best * n + k] = was;
		}
		if (lane == 0) {
			sigma[best] = other;
			sigma[i] = s;
		}
	}
	barrier(CLK_GLOBAL_MEM_FENCE);
	for (int i = lane; i < n; i += lanes) sigma[i] *= scale;
	if (lane != 0) return;
	for (int i = rank; i < n; i++) { // the others are the unit vector that is farthest from those before, made orthogonal
		int far = 0;
		REAL most = -1;
		for (int k = 0; k < m; k++) {
			REAL rest = 1;
			for (int j = 0; j < i; j++) rest -= u[(size_t)j * m + k] * u[(size_t)j * m + k];
			if (rest > most) {
				most = rest;
				far = k;
			}
		}
		global ELEM *y = u + (size_t)i * m;
		for (int k = 0; k < m; k++) y[k] = k == far;
		for (int again = 0; again < 2; again++) {
			for (int j = 0; j < i; j++) {
				REAL s = 0;
				for (int k = 0; k < m; k++) s += u[(size_t)j * m + k] * y[k];
				for (int k = 0; k < m; k++) y[k] -= s * u[(size_t)j * m + k];
			}
			REAL s = 0;
			for (int k = 0; k < m; k++) s += y[k] * y[k];
			s = sqrt(s);
			for (int k = 0; k < m; k++) y[k] /= s;
		}
	}
}
