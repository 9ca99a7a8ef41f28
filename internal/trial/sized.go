// Package trial makes the operands with which a device tries a kernel before its first launch.
package trial

import (
	"strings"

	"github.com/clgrad/clgrad/internal/kernelcases"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// Most is how many elements, and mostProducts how many multiplications, a trial at the size asked for takes at most:
// about a tenth of a second of the Go twin. A larger launch is tried with fewer rows where its kernel's rows are
// independent, else not at its size.
const (
	Most         = 1 << 22
	mostProducts = 1 << 27
)

// Small returns the operands of small launches of k, none if it says nothing about them.
func Small(k *kernels.Kernel, real kernels.DType) []*kernels.Operands {
	cases := k.Cases
	if cases == nil {
		if k.Trial != nil {
			return []*kernels.Operands{Of(k, k.Trial(nil), real, 0)}
		}
		if k.Text != "" {
			return nil
		}
		cases = func(few bool) []kernels.Case { return kernelcases.Of(k, few) }
	}
	var all []*kernels.Operands
	for i, c := range cases(true) {
		o := kernels.NewOperands(real, 1, uint64(i))
		c.Build(o)
		all = append(all, o)
	}
	return all
}

// Like returns the operands of a launch of k as that with the arguments args is: with its numbers and the lengths of
// its buffers, as far as the bounds allow. It returns nil for a launch that cannot be made from these.
func Like(k *kernels.Kernel, args []kernels.Arg, real kernels.DType) *kernels.Operands {
	if k.Trial != nil {
		return Of(k, k.Trial(args), real, 1)
	}
	if k.Text != "" {
		return nil
	}
	drawn := make([]kernels.Operand, len(args))
	total := 0
	for i, p := range k.Params {
		a := args[i]
		switch {
		case p.Mode == kernels.IntArg:
			drawn[i] = kernels.Number(float64(a.Int))
		case p.Mode == kernels.RealArg:
			drawn[i] = kernels.Number(a.Real)
		case p.Mode == kernels.Out:
			drawn[i] = kernels.Output(a.N)
		case p.Mode == kernels.In, p.Mode == kernels.InOut:
			drawn[i] = kernels.Draw(a.N, -1, 1)
		default:
			return nil // what ints mean is not known here
		}
		total += a.N
	}
	if strings.HasPrefix(k.Name, "k_gemm_") {
		return Of(k, product(k, args), real, 1)
	}
	if total > Most {
		if !elementwise(k) {
			return nil
		}
		n := Most / len(drawn)
		for i := range drawn {
			if drawn[i].N > 1 {
				drawn[i].N = n
			}
			if k.Params[i].Name == "n" {
				drawn[i].Number = float64(n)
			}
		}
	}
	switch k {
	case ops.AdamW:
		drawn[3].Lo = 0
		setNumbers(drawn[5:], 1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
	case ops.AdamWShares:
		drawn[4].Lo = 0
		setNumbers(drawn[7:], 1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
	case ops.FrequencyEncode, ops.FourierEncode:
		drawn[0].Lo = 0
	case ops.SampleEncode, ops.MaxAxisGrad, ops.SumAtomic, ops.OuterAccAtomic, ops.StridedCopy:
		return nil // tried with the operands of Cases alone: others are not comparable element by element
	}
	for _, u := range kernels.Unaries {
		if k == u.Forward() || k == u.Gradient() {
			drawn[0].Lo, drawn[0].Hi = u.Domain[0], u.Domain[1]
			setNumbers(drawn[len(drawn)-2:], u.A, u.B) // the tolerance is known to hold there
		}
		if k == u.Gradient() { // of y, which belongs to x
			o := Of(k, drawn[:1], real, 1)
			x, a, b := o.Args[0].Buf.(*kernels.Mem), u.A, u.B
			o.Reals(drawn[1].N, func(i int) float64 {
				if drawn[1].N != drawn[0].N {
					return 0 // it is not read
				}
				return u.Fwd(x.At(o.Args[0].Off+i), a, b)
			})
			return add(o, k, drawn[2:])
		}
	}
	for _, b := range kernels.Binaries {
		if k == b.Forward() || k == b.First() || k == b.Row() || k == b.GradX() || k == b.GradY() {
			drawn[1].Lo, drawn[1].Hi = 0.5, 3
		}
	}
	return Of(k, drawn, real, 1)
}

func setNumbers(drawn []kernels.Operand, values ...float64) {
	for i, v := range values {
		drawn[i].Number = v
	}
}

// elementwise reports whether n of k's parameters says how many elements of each buffer are computed, each alone.
func elementwise(k *kernels.Kernel) bool {
	for _, u := range kernels.Unaries {
		if k == u.Forward() || k == u.Gradient() {
			return true
		}
	}
	for _, b := range kernels.Binaries {
		if k == b.Forward() || k == b.First() || k == b.GradX() || k == b.GradY() {
			return true
		}
	}
	return k == ops.Fill || k == ops.Zero || k == ops.Copy || k == ops.AdamW
}

// product returns the operands of a matrix product with at most so many rows that its bounds hold.
func product(k *kernels.Kernel, a []kernels.Arg) []kernels.Operand {
	num := func(i int) int { return int(a[i].Int) }
	m, n, sum, lda, ldb, ldc, slice := num(4), num(5), num(6), num(7), num(8), num(9), num(15)
	m = max(1, min(m, mostProducts/max(1, n*sum), Most/max(1, sum+ldc)))
	if sum*n > Most || sum > slice && m != num(4) {
		m = 0
	}
	drawn := make([]kernels.Operand, len(a))
	for i := range a {
		if k.Params[i].Mode == kernels.RealArg {
			drawn[i] = kernels.Number(a[i].Real)
		} else {
			drawn[i] = kernels.Number(float64(a[i].Int))
		}
	}
	drawn[4] = kernels.Number(float64(m))
	rows := m
	if strings.HasSuffix(k.Name, "_tn") {
		rows = sum
	}
	other := sum
	if strings.HasSuffix(k.Name, "_nt") {
		other = n
	}
	slices := (sum + slice - 1) / max(1, slice)
	drawn[0], drawn[1] = kernels.Draw(rows*lda, -1, 1), kernels.Draw(other*ldb, -1, 1)
	drawn[2], drawn[3] = kernels.Draw(a[2].N, -1, 1), kernels.Draw(slices*m*ldc, -1, 1)
	return drawn
}

// Of draws operands: what is drawn depends on the seed.
func Of(k *kernels.Kernel, drawn []kernels.Operand, real kernels.DType, seed uint64) *kernels.Operands {
	return add(kernels.NewOperands(real, 2, seed), k, drawn)
}

func add(o *kernels.Operands, k *kernels.Kernel, drawn []kernels.Operand) *kernels.Operands {
	for _, p := range drawn {
		switch mode := k.Params[len(o.Args)].Mode; {
		case mode == kernels.IntArg:
			o.Int(int(p.Number))
		case mode == kernels.RealArg:
			o.Real(p.Number)
		case mode == kernels.InInts || mode == kernels.OutInts || mode == kernels.InOutInts:
			o.Ints(p.N, func(int) int { return int(p.Lo + (p.Hi-p.Lo)*o.Rand.Float64()) })
		case p.Blank:
			o.Out(p.N)
		default:
			o.In(p.N, p.Lo, p.Hi)
		}
	}
	return o
}
