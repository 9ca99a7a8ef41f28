// Solutions of triangular systems.
//
// @depends: common

// A [count, n, n] and B [count, n, m] to X with A·X = B, of the triangle of A that flags name: 1 is the upper one, 2 has
// ones on its diagonal, whatever A has. A work-item has a column.
kernel void k_solve_triangular(IN(A), IN(B), OUT(X), int n, int m, int columns, int flags) {
	int id = get_global_id(0);
	if (id >= columns) return;
	size_t matrix = id / m;
	global const ELEM *a = A + A_off + matrix * n * n;
	global const ELEM *b = B + B_off + matrix * n * m + id % m;
	global ELEM *x = X + X_off + matrix * n * m + id % m;
	for (int at = 0; at < n; at++) {
		int i = flags & 1 ? n - 1 - at : at, from = flags & 1 ? i + 1 : 0, to = flags & 1 ? n : i;
		REAL s = b[(size_t)i * m];
		for (int k = from; k < to; k++) s -= a[(size_t)i * n + k] * x[(size_t)k * m];
		x[(size_t)i * m] = flags & 2 ? s : s / a[(size_t)i * n + i];
	}
}
