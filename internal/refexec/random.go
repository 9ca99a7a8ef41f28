package refexec

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

func (m *machine[T]) random(op *operation.Random) {
	word := func(s operation.Scalar) uint32 { return uint32(int64(s.In(m.args, kernels.Int32))) }
	a, b := op.A.In(m.args, op.Y.Type), op.B.In(m.args, op.Y.Type)
	float := func(v float64) float64 { return float64(T(v)) }
	unit := func(w uint32) float64 { return math.Ldexp(float64(w>>8), -24) }
	for i := range op.N {
		w := philox([4]uint32{uint32(i / 4), word(op.Call)}, [2]uint32{word(op.Seed[0]), word(op.Seed[1])})
		var v float64
		switch op.Distribution {
		case operation.UniformFloats:
			v = float(math.FMA(float(float(b)-float(a)), unit(w[i%4]), float(a)))
		case operation.NormalFloats:
			first := i % 4 / 2 * 2
			radius, turn := math.Sqrt(-2*math.Log(1-unit(w[first]))), 2*math.Pi*unit(w[first+1])
			if v = math.Cos(turn); i%2 == 1 {
				v = math.Sin(turn)
			}
			v = float(float(a) + float(b)*radius*v)
		case operation.UniformInts:
			v = float64(uint64(w[i%4]) * uint64(a) >> 32)
		}
		m.store(op.Y, v, i)
	}
}

// philox is Philox4x32-10: ten rounds of two products, whose halves change places, and of a key
// that grows by Weyl's constants.
func philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	for range 10 {
		p, q := 0xD2511F53*uint64(counter[0]), 0xCD9E8D57*uint64(counter[2])
		counter = [4]uint32{uint32(q>>32) ^ counter[1] ^ key[0], uint32(q), uint32(p>>32) ^ counter[3] ^ key[1], uint32(p)}
		key[0], key[1] = key[0]+0x9E3779B9, key[1]+0xBB67AE85
	}
	return counter
}
