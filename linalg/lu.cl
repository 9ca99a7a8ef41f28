// The LU factorisation with partial pivoting, and solutions by it.
//
// @depends: common

// X [count, n, n] to LU, L below its diagonal and U from there on, with L·U = rows P of X. S [count] is the sign of that
// permutation. A work-group has a matrix; its work-items share the rows.
kernel void k_lu(IN(X), OUT(LU), OUT_INTS(P), OUT(S), int n) {
	size_t first = (size_t)get_group_id(0) * n * n;
	global const ELEM *x = X + X_off + first;
	global ELEM *a = LU + LU_off + first;
	global int *p = P + P_off + (size_t)get_group_id(0) * n;
	int lane = get_local_id(0), lanes = get_local_size(0);
	for (int i = lane; i < n * n; i += lanes) a[i] = x[i];
	for (int i = lane; i < n; i += lanes) p[i] = i;
	barrier(CLK_GLOBAL_MEM_FENCE);
	REAL sign = 1;
	for (int k = 0; k < n; k++) {
		int best = k;
		REAL most = fabs(a[(size_t)k * n + k]);
		for (int i = k + 1; i < n; i++) {
			REAL v = fabs(a[(size_t)i * n + k]);
			if (v > most) {
				most = v;
				best = i;
			}
		}
		barrier(CLK_GLOBAL_MEM_FENCE);
		if (best != k) {
			sign = -sign;
			for (int j = lane; j < n; j += lanes) {
				REAL v = a[(size_t)k * n + j];
				a[(size_t)k * n + j] = a[(size_t)best * n + j];
				a[(size_t)best * n + j] = v;
			}
			if (lane == 0) {
				int v = p[k];
				p[k] = p[best];
				p[best] = v;
			}
		}
		barrier(CLK_GLOBAL_MEM_FENCE);
		REAL pivot = a[(size_t)k * n + k];
		for (int i = k + 1 + lane; i < n; i += lanes) {
			REAL f = a[(size_t)i * n + k];
			if (pivot != 0) f /= pivot;
			a[(size_t)i * n + k] = f;
			for (int j = k + 1; j < n; j++) a[(size_t)i * n + j] -= f * a[(size_t)k * n + j];
		}
		barrier(CLK_GLOBAL_MEM_FENCE);
	}
	if (lane == 0) S[S_off + get_group_id(0)] = sign;
}

// LU [count, n, n] and P [count, n] of k_lu, B [count, n, m] to X with rows P of B = L·U·X. Where a pivot is 0, X is NaN.
// A work-item has a column.
kernel void k_lu_solve(IN(LU), IN_INTS(P), IN(B), OUT(X), int n, int m, int columns) {
	int id = get_global_id(0);
	if (id >= columns) return;
	size_t matrix = id / m;
	global const ELEM *a = LU + LU_off + matrix * n * n;
	global const int *p = P + P_off + matrix * n;
	global const ELEM *b = B + B_off + matrix * n * m + id % m;
	global ELEM *x = X + X_off + matrix * n * m + id % m;
	bool good = true;
	for (int i = 0; i < n; i++) {
		REAL s = b[(size_t)p[i] * m];
		for (int k = 0; k < i; k++) s -= a[(size_t)i * n + k] * x[(size_t)k * m];
		x[(size_t)i * m] = s;
		good = good && a[(size_t)i * n + i] != 0;
	}
	for (int i = n - 1; i >= 0; i--) {
		REAL s = x[(size_t)i * m];
		for (int k = i + 1; k < n; k++) s -= a[(size_t)i * n + k] * x[(size_t)k * m];
		x[(size_t)i * m] = good ? s / a[(size_t)i * n + i] : (REAL)NAN;
	}
}
