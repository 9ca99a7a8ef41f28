package expr

import (
	"math"
	"math/bits"
)

// computeInts runs one primitive of ints over a block.
func computeInts(o op, d, a, b, c, e []int32) {
	switch o {
	case opQuo:
		for i := range d {
			d[i] = int32(uint32(a[i]) / max(uint32(b[i]), 1))
		}
	case opRem:
		for i := range d {
			d[i] = int32(uint32(a[i]) % max(uint32(b[i]), 1))
		}
	case opMulHigh:
		for i := range d {
			high, _ := bits.Mul32(uint32(a[i]), uint32(b[i]))
			d[i] = int32(high)
		}
	case opRandom:
		randomWords(d, a, b, c, e)
	default:
		compute(o, d, a, b, c, e)
	}
}

// randomWords sets d to the words i of streams. Four neighbours have their words in common.
func randomWords(d, i, call, lo, hi []int32) {
	var words [4]uint32
	for k := range d {
		n := uint32(i[k])
		if same := k > 0 && uint32(i[k-1])/4 == n/4 && call[k-1] == call[k] && lo[k-1] == lo[k] && hi[k-1] == hi[k]; !same {
			words = Philox([4]uint32{n / 4, uint32(call[k])}, [2]uint32{uint32(lo[k]), uint32(hi[k])})
		}
		d[k] = int32(words[n%4])
	}
}

// Philox returns the four words of Philox4x32-10 for a counter and a key. Source: Salmon, Moraes,
// Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
func Philox(c [4]uint32, key [2]uint32) [4]uint32 {
	for range 10 {
		hi0, lo0 := bits.Mul32(c[0], 0xD2511F53)
		hi1, lo1 := bits.Mul32(c[2], 0xCD9E8D57)
		c = [4]uint32{hi1 ^ c[1] ^ key[0], lo1, hi0 ^ c[3] ^ key[1], lo0}
		key[0] += 0x9E3779B9
		key[1] += 0xBB67AE85
	}
	return c
}

// at sets d to elements n of x, 0 for those that there are not.
func at[T Number](d, x []T, n []int32) {
	for i, k := range n {
		d[i] = 0
		if uint(k) < uint(len(x)) {
			d[i] = x[k]
		}
	}
}

// ldexp sets d to x·2ⁿ. Powers that are normal numbers are made of their bits.
func ldexp[T Number](d, x []T, n []int32) {
	for i, v := range x {
		if k := n[i]; k > -1000 && k < 1000 {
			d[i] = T(float64(v) * math.Float64frombits(uint64(1023+k)<<52))
		} else {
			d[i] = T(math.Ldexp(float64(v), int(k)))
		}
	}
}
