package vec

import "unsafe"

// shortCopy is how many bytes a row has at least that the loop of Copy copies.
const shortCopy = 16

// Copy is planes of rows of N elements that are copied: so many elements lie between two planes,
// and between two rows, of both sides.
type Copy struct {
	Planes, Rows, N                    int
	ToPlane, ToRow, FromPlane, FromRow int
}

// copyLoop copies so many planes of so many rows of n bytes.
type copyLoop func(planes, rows, n int, to *byte, toPlane, toRow int, from *byte, fromPlane, fromRow int)

// Copy copies elements. No row may lie on another.
func (l *Loops[T]) Copy(to, from []T, c Copy) { copyPlanes(l.copies, to, from, c) }

// CopyPlanes is Copy of elements of any type. s may be nil: then it does so in plain loops.
func CopyPlanes[E any](s *Set, to, from []E, c Copy) {
	var loop copyLoop
	if s != nil {
		loop = s.single.copies
	}
	copyPlanes(loop, to, from, c)
}

func copyPlanes[E any](loop copyLoop, to, from []E, c Copy) {
	if min(c.Planes, c.Rows, c.N) <= 0 {
		return
	}
	size := int(unsafe.Sizeof(from[0]))
	if loop == nil || c.N*size < shortCopy {
		for p := range c.Planes {
			for r := range c.Rows {
				copy(to[p*c.ToPlane+r*c.ToRow:][:c.N], from[p*c.FromPlane+r*c.FromRow:][:c.N])
			}
		}
		return
	}
	// Assembly knows no bounds.
	_, _ = to[(c.Planes-1)*c.ToPlane+(c.Rows-1)*c.ToRow+c.N-1], from[(c.Planes-1)*c.FromPlane+(c.Rows-1)*c.FromRow+c.N-1]
	loop(c.Planes, c.Rows, c.N*size, (*byte)(unsafe.Pointer(&to[0])), c.ToPlane*size, c.ToRow*size,
		(*byte)(unsafe.Pointer(&from[0])), c.FromPlane*size, c.FromRow*size)
}

// Reverse sets the elements of to, which has as many, to those of from from the last one on. They
// do not overlap. s may be nil: then it does so in a plain loop.
func Reverse[E any](s *Set, to, from []E) {
	n := len(from)
	to = to[:n]
	whole := 0
	if s != nil && s.reverse != nil && unsafe.Sizeof(*new(E)) == 4 && n >= 8 {
		whole = n / 8 * 8
		s.reverse(whole, (*uint32)(unsafe.Pointer(&to[0])), (*uint32)(unsafe.Pointer(&from[n-whole])))
	}
	for i := whole; i < n; i++ {
		to[i] = from[n-1-i]
	}
}

// CopyStep is Copy of elements that are so many apart in rows of from.
func (l *Loops[T]) CopyStep(to, from []T, c Copy, step int) {
	if step == 1 {
		l.Copy(to, from, c)
		return
	}
	if c.N <= 0 {
		return
	}
	for p := range c.Planes {
		for r := range c.Rows {
			l.Step(to[p*c.ToPlane+r*c.ToRow:][:c.N], from[p*c.FromPlane+r*c.FromRow:], step)
		}
	}
}

// Step sets to to the elements of from that are so many apart, from the first on. l may be nil: then
// it does so in a plain loop.
func (l *Loops[T]) Step(to, from []T, step int) {
	if l == nil {
		steps(nil, 8, to, from, step)
		return
	}
	steps(l.everySecond, 8, to, from, step)
}

// StepElements is [Loops.Step] of elements of any type. s may be nil: then it does so in a plain loop.
func StepElements[E any](s *Set, to, from []E, step int) {
	switch size := unsafe.Sizeof(*new(E)); {
	case s != nil && size == 4:
		steps(s.single.everySecond, 8, as[float32](to), as[float32](from), step)
	case s != nil && size == 2:
		steps(s.halves.everySecond, 16, as[uint16](to), as[uint16](from), step)
	default:
		steps(nil, 1, to, from, step)
	}
}

// steps is Step with a loop of every second element, of so many at a time; nil: there is none.
func steps[E any](everySecond func(n int, to, from *E), unit int, to, from []E, step int) {
	whole := 0
	if everySecond != nil && step == 2 {
		if whole = min(len(to), len(from)/2) / unit * unit; whole > 0 {
			everySecond(whole, &to[0], &from[0])
		}
	}
	at := whole * step
	for i := range to[whole:] {
		to[whole+i] = from[at]
		at += step
	}
}

// Move moves elements from one slice to another of that length, which must not overlap. It does so
// in pieces, as long as both fit in the caches: the runtime writes long ones past them.
func Move[T any](to, from []T) {
	const piece, cached = 1 << 18, 1 << 24 // bytes
	size := max(int(unsafe.Sizeof(*new(T))), 1)
	if len(from)*size > cached {
		copy(to, from)
		return
	}
	for n := piece / size; len(from) > 0; {
		n = min(n, len(from))
		copy(to[:n], from)
		to, from = to[n:], from[n:]
	}
}

// Fill sets all elements to v: with a loop for words if there is one, else the first by a loop, and
// the rest by copies of what is there.
func Fill[T any](to []T, v T) {
	const first = 32
	if unsafe.Sizeof(v) == 4 && len(to) >= 8 {
		if set, _ := Chosen(); set != nil && set.fill != nil {
			words, word := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(to))), len(to)), *(*uint32)(unsafe.Pointer(&v))
			whole := len(words) / 8 * 8
			set.fill(whole, &words[0], word)
			for i := range words[whole:] {
				words[whole+i] = word
			}
			return
		}
	}
	for i := range to[:min(first, len(to))] {
		to[i] = v
	}
	for n := first; n < len(to); n *= 2 {
		copy(to[n:], to[:n])
	}
}
