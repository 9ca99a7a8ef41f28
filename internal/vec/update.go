package vec

// AdamW is the scalars of the optimizer's rule, as internal/ops/rules.go has them; Keep is 1 − decay.
type AdamW[T Float] struct{ Keep, B1, OneB1, B2, OneB2, Step, Root, Eps T }

// AdamW updates parameters p and their moments m and v by gradients g, all as long as p at least,
// by the rule
//
//	m = b1·m + one_b1·g;  v = b2·v + one_b2·g²;  p = keep·p − step·m / (√v·root + eps)
func (l *Loops[T]) AdamW(p, g, m, v []T, by *AdamW[T]) {
	n := len(p)
	if n == 0 {
		return
	}
	_, _, _ = g[n-1], m[n-1], v[n-1] // assembly knows no bounds
	l.adamw(n, &p[0], &g[0], &m[0], &v[0], &by.Keep)
}
