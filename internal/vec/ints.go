package vec

import "unsafe"

// intJoins are the loops that set n elements from to on, n being a multiple of 8, to a function of
// them and of those from x on.
type intJoins struct{ add, mul, most, least func(n int, to, x *int32) }

// JoinInts sets the elements of to to f of them and of those of x, which is as long. f is Add or
// Mul, which wrap around, Max or Min.
func (s *Set) JoinInts(f Function, to, x []int32) {
	var join func(n int, to, x *int32)
	switch f {
	case Add:
		join = s.ints.add
	case Mul:
		join = s.ints.mul
	case Max:
		join = s.ints.most
	case Min:
		join = s.ints.least
	}
	x = x[:len(to)]
	whole := len(to) / 8 * 8
	if whole > 0 {
		join(whole, &to[0], &x[0])
	}
	for i, v := range x[whole:] {
		switch at := &to[whole+i]; f {
		case Add:
			*at += v
		case Mul:
			*at *= v
		case Max:
			*at = max(*at, v)
		case Min:
			*at = min(*at, v)
		}
	}
}

// MapInts sets the elements of to to f of the operands, which are at least as long, and may be to
// itself: f is one of NegInts to ToInts, whose bits are those of plain loops. FromInts and ToInts
// have floats in the memory of ints: FromInts rounds to nearest, and ToInts cuts fractions off,
// gives the nearest int that there is, and 0 of NaN.
func (s *Set) MapInts(f Function, to, x0, x1, x2, x3 []int32) {
	s.single.Map(f, Words(to), Words(x0), Words(x1), Words(x2), Words(x3))
}

// Words returns the words that hold ints as floats, to be moved.
func Words(v []int32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// Ints returns the words that hold floats as ints.
func Ints(v []float32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}
