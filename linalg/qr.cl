// The QR factorisation by Householder reflections, those of LAPACK.
//
// @depends: common

// X [count, m, n] to W [count, n, m], whose row j has column j of R up to its diagonal, and behind that the vector of
// reflection j, whose first element is 1 and left out. T [count, min(m, n)] are the factors: reflection j is
// I − T[j]·v·vᵀ. A work-group has a matrix; its work-items share the columns.
kernel void k_qr(IN(X), OUT(W), OUT(T), int m, int n) {
	size_t first = (size_t)get_group_id(0) * m * n;
	global const ELEM *x = X + X_off + first;
	global ELEM *w = W + W_off + first;
	global ELEM *t = T + T_off + (size_t)get_group_id(0) * min(m, n);
	int lane = get_local_id(0), lanes = get_local_size(0);
	for (int i = lane; i < m * n; i += lanes) w[i] = x[(size_t)(i % m) * n + i / m];
	barrier(CLK_GLOBAL_MEM_FENCE);
	for (int j = 0; j < min(m, n); j++) {
		global ELEM *v = w + (size_t)j * m;
		REAL most = 0, sum = 0, head = v[j], tail = 0, beta = head, factor = 0, scale = 1;
		for (int i = j + 1; i < m; i++) {
			most = fmax(most, fabs(v[i]));
			tail += v[i] * 0; // NaN, if one is not finite
		}
		if (most > 0) {
			for (int i = j + 1; i < m; i++) sum += v[i] / most * (v[i] / most);
			tail += most * sqrt(sum);
		}
		if (tail != 0) {
			beta = -copysign(hypot(head, tail), head);
			factor = (beta - head) / beta;
			scale = 1 / (head - beta);
		}
		barrier(CLK_GLOBAL_MEM_FENCE);
		for (int i = j + 1 + lane; i < m; i += lanes) v[i] *= scale;
		if (lane == 0) {
			v[j] = beta;
			t[j] = factor;
		}
		barrier(CLK_GLOBAL_MEM_FENCE);
		for (int c = j + 1 + lane; c < n; c += lanes) {
			global ELEM *y = w + (size_t)c * m;
			REAL s = y[j];
			for (int i = j + 1; i < m; i++) s += v[i] * y[i];
			s *= factor;
			y[j] -= s;
			for (int i = j + 1; i < m; i++) y[i] -= s * v[i];
		}
		barrier(CLK_GLOBAL_MEM_FENCE);
	}
}

// W [count, n, m] and T [count, k] of k_qr to Q [count, c, m], whose rows are the first c columns of the product of the
// reflections. A work-item has a row.
kernel void k_qr_q(IN(W), IN(T), OUT(Q), int m, int n, int k, int c, int rows) {
	int id = get_global_id(0);
	if (id >= rows) return;
	size_t matrix = id / c;
	global const ELEM *w = W + W_off + matrix * m * n;
	global const ELEM *t = T + T_off + matrix * k;
	global ELEM *q = Q + Q_off + (size_t)id * m;
	for (int i = 0; i < m; i++) q[i] = i == id % c;
	for (int j = k - 1; j >= 0; j--) {
		global const ELEM *v = w + (size_t)j * m;
		REAL s = q[j];
		for (int i = j + 1; i < m; i++) s += v[i] * q[i];
		s *= t[j];
		q[j] -= s;
		for (int i = j + 1; i < m; i++) q[i] -= s * v[i];
	}
}
