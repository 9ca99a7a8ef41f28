package vec

import "unsafe"

// Butterfly is a butterfly of radix 4 of a Fourier transform, of n complex numbers beside each other.
// Row i, 0 to 3, of the operands begins i·fromApart elements behind from, that of the results
// i·toApart elements behind to; imaginary parts are plane elements behind the real ones. Operands 1 to
// 3 are multiplied by the pairs of by; its last element is the sign of the transform's exponent.
type Butterfly[T Float] struct {
	To, From                  []T
	N                         int
	Plane, ToApart, FromApart int
	By                        [7]T
}

// HasButterfly reports whether there is a loop for [Loops.Butterfly].
func (l *Loops[T]) HasButterfly() bool { return l.butterfly != nil }

// Butterfly does a butterfly, if [Loops.HasButterfly].
func (l *Loops[T]) Butterfly(b *Butterfly[T]) {
	if b.N == 0 {
		return
	}
	_, _ = b.To[b.Plane+3*b.ToApart+b.N-1], b.From[b.Plane+3*b.FromApart+b.N-1] // assembly knows no bounds
	size := int(unsafe.Sizeof(b.By[0]))
	l.butterfly(b.N, &b.To[0], &b.From[0], b.Plane*size, b.ToApart*size, b.FromApart*size, &b.By[0])
}
