package vec

// byteLoops are the loops between n bytes and as many numbers, n being a multiple of 32. nil: there
// are none.
type byteLoops struct {
	toInts   func(n int, to *int32, x *byte)
	toFloats func(n int, to *float32, x *byte)
	ofInts   func(n int, to *byte, x *int32)
	ofFloats func(n int, to *byte, x *float32)
}

// FromBytes sets the elements of to to those of x, which is as long. set may be nil.
func FromBytes[T Float | int32](set *Set, to []T, x []byte) {
	x = x[:len(to)]
	whole := len(to) / 32 * 32
	switch d := any(to).(type) {
	case []int32:
		if whole = set.whole(whole); whole > 0 {
			set.bytes.toInts(whole, &d[0], &x[0])
		}
	case []float32:
		if whole = set.whole(whole); whole > 0 {
			set.bytes.toFloats(whole, &d[0], &x[0])
		}
	default:
		whole = 0
	}
	for i, v := range x[whole:] {
		to[whole+i] = T(v)
	}
}

// ToBytes sets the elements of to to those of x, which is as long: to the lowest byte of ints;
// floats are whole, from 0 to 255. set may be nil.
func ToBytes[T Float | int32](set *Set, to []byte, x []T) {
	x = x[:len(to)]
	whole := len(to) / 32 * 32
	switch s := any(x).(type) {
	case []int32:
		if whole = set.whole(whole); whole > 0 {
			set.bytes.ofInts(whole, &to[0], &s[0])
		}
	case []float32:
		if whole = set.whole(whole); whole > 0 {
			set.bytes.ofFloats(whole, &to[0], &s[0])
		}
	default:
		whole = 0
	}
	for i, v := range x[whole:] {
		to[whole+i] = byte(v)
	}
}

// whole returns n, or 0 if the set has no loops on bytes.
func (s *Set) whole(n int) int {
	if s == nil || s.bytes.toInts == nil {
		return 0
	}
	return n
}
