package vec

// intJoins are the loops that set n elements from to on, n being a multiple of 8, to a function of them and of those from x on.
type intJoins struct{ add, mul, most, least func(n int, to, x *int32) }

// JoinInts sets the elements of to to f of them and of those of x, which is as long. f is Add or Mul, which wrap around, Max or Min.
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
