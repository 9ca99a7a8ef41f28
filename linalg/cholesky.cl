// The Cholesky factorisation. A work-group has a matrix; its work-items share the rows of a column.
//
// @depends: common

// X [count, n, n], of which the lower triangle is read, to L with L·Lᵀ = X. Where X is not positive definite, L is NaN.
kernel void k_cholesky(IN(X), OUT(L), int n) {
	global const ELEM *x = X + X_off + (size_t)get_group_id(0) * n * n;
	global ELEM *l = L + L_off + (size_t)get_group_id(0) * n * n;
	int lane = get_local_id(0), lanes = get_local_size(0);
	bool good = true;
	for (int j = 0; j < n; j++) {
		REAL d = x[(size_t)j * n + j];
		for (int k = 0; k < j; k++) d -= l[(size_t)j * n + k] * l[(size_t)j * n + k];
		good = good && d > 0;
		d = sqrt(d);
		for (int i = lane; i < n; i += lanes) {
			REAL s = 0;
			if (i == j) s = d;
			if (i > j) {
				s = x[(size_t)i * n + j];
				for (int k = 0; k < j; k++) s -= l[(size_t)i * n + k] * l[(size_t)j * n + k];
				s /= d;
			}
			l[(size_t)i * n + j] = s;
		}
		barrier(CLK_GLOBAL_MEM_FENCE);
	}
	if (!good)
		for (int i = lane; i < n * n; i += lanes) l[i] = NAN;
}
