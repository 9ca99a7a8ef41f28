// @depends: common, atomics
// Outer products summed over a batch: C[i*n + j] += Σ_b U[b*m + i]·V[b*n + j].

// One work-item per element of C and slice of the batch: b in [z*slice, min(batch, (z+1)*slice)). The
// slices meet in float atomics, so the last bits vary from run to run.
kernel void k_outer_acc_atomic(IN(U), IN(V), OUT(C), int batch, int m, int n, int slice) {
    const int j = get_global_id(0), i = get_global_id(1), z = get_global_id(2);
    if (i >= m || j >= n) return;
    const int end = min(batch, (z + 1) * slice);
    REAL s = 0;
    for (int b = z * slice; b < end; b++) s = fma(U[U_off + b * m + i], V[V_off + b * n + j], s);
    atomic_add_real(C + C_off + i * n + j, s);
}
