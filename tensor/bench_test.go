package tensor_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// rate runs f, waiting for each run, and reports what it did per second in units of 10⁹.
func rate(b *testing.B, d tensor.Device, unit string, perRun float64, f func()) {
	f() // builds the kernel
	if err := d.Sync(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f()
		if err := d.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(perRun*float64(b.N)/b.Elapsed().Seconds()/1e9, unit)
}

func BenchmarkMatMul(b *testing.B) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(b, sel, tensor.Options{})
		rng := tensor.NewRNG(1)
		for _, s := range [][3]int{{512, 64, 64}, {65536, 64, 64}, {512, 512, 512}, {1024, 1024, 1024}} {
			m, n, k := s[0], s[1], s[2]
			x, w, g := rng.Uniform(d, -1, 1, m, k), rng.Uniform(d, -1, 1, k, n), rng.Uniform(d, -1, 1, m, n)
			flops := 2 * float64(m) * float64(n) * float64(k)
			y, dx, dw := tensor.Zeros(d, m, n), tensor.Zeros(d, m, k), tensor.Zeros(d, k, n)
			b.Run(fmt.Sprintf("%s/%dx%dx%d/nn", sel, m, n, k), func(b *testing.B) {
				rate(b, d, "GFLOP/s", flops, func() { tensorapi.Impl.MatMulInto(y, x, w, false) })
			})
			b.Run(fmt.Sprintf("%s/%dx%dx%d/nt", sel, m, n, k), func(b *testing.B) {
				rate(b, d, "GFLOP/s", flops, func() { tensorapi.Impl.MatMulInto(dx, g, w.T(), false) })
			})
			b.Run(fmt.Sprintf("%s/%dx%dx%d/tn", sel, m, n, k), func(b *testing.B) {
				rate(b, d, "GFLOP/s", flops, func() { tensorapi.Impl.MatMulInto(dw, x.T(), g, false) })
			})
		}
	}
}

// BenchmarkMatMulBatch: many small matrices, and heads of attention.
func BenchmarkMatMulBatch(b *testing.B) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(b, sel, tensor.Options{})
		rng := tensor.NewRNG(1)
		for _, s := range [][4]int{{64, 64, 64, 64}, {4096, 8, 8, 8}, {128, 128, 128, 32}, {128, 128, 32, 128}} {
			batch, m, n, k := s[0], s[1], s[2], s[3]
			x, w, v := rng.Uniform(d, -1, 1, batch, m, k), rng.Uniform(d, -1, 1, batch, k, n), rng.Uniform(d, -1, 1, batch, n, k)
			y := tensor.Zeros(d, batch, m, n)
			flops := 2 * float64(batch) * float64(m) * float64(n) * float64(k)
			b.Run(fmt.Sprintf("%s/%dof%dx%dx%d/nn", sel, batch, m, n, k), func(b *testing.B) {
				rate(b, d, "GFLOP/s", flops, func() { tensorapi.Impl.MatMulInto(y, x, w, false) })
			})
			b.Run(fmt.Sprintf("%s/%dof%dx%dx%d/nt", sel, batch, m, n, k), func(b *testing.B) {
				rate(b, d, "GFLOP/s", flops, func() { tensorapi.Impl.MatMulInto(y, x, v.Transpose(0, 2, 1), false) })
			})
		}
	}
}

func BenchmarkElementwise(b *testing.B) {
	const n = 1 << 22
	for _, sel := range devtest.Selected() {
		d := devtest.Open(b, sel, tensor.Options{})
		x := tensor.NewRNG(1).Uniform(d, -1, 1, n)
		bytes := 2 * float64(n*d.DefaultType().Size())
		for _, f := range fn.Functions {
			if f.Operands() != 1 {
				continue
			}
			b.Run(sel+"/"+f.Name, func(b *testing.B) {
				rate(b, d, "GB/s", bytes, func() { tensor.Map(f, f.Scalars, x).Free() })
			})
		}
	}
}

// BenchmarkSmall is what the host spends on an operation of few elements, whose kernel takes next
// to no time.
func BenchmarkSmall(b *testing.B) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(b, sel, tensor.Options{})
		rng := tensor.NewRNG(1)
		x, y, one := rng.Uniform(d, 1, 2, 10), rng.Uniform(d, 1, 2, 10), rng.Uniform(d, 1, 2, 1)
		square, turned := rng.Uniform(d, 1, 2, 4, 4), rng.Uniform(d, 1, 2, 4, 4).T()
		mask := x.Gt(y)
		for _, c := range []struct {
			name string
			f    func() *tensor.Tensor
		}{
			{"Add", func() *tensor.Tensor { return x.Add(y) }},
			{"Mul", func() *tensor.Tensor { return x.Mul(y) }},
			{"Exp", func() *tensor.Tensor { return x.Exp() }},
			{"AddScalar", func() *tensor.Tensor { return x.AddScalar(1) }},
			{"Where", func() *tensor.Tensor { return x.Where(mask, y) }},
			{"MaxInPlace", func() *tensor.Tensor { x.MapInPlace(fn.Max, nil, y); return nil }},
			{"Broadcast", func() *tensor.Tensor { return x.Add(one) }},
			{"Transposed", func() *tensor.Tensor { return square.Add(turned) }},
			{"Copy", func() *tensor.Tensor { return turned.Copy() }},
			{"Softmax", func() *tensor.Tensor { return x.Softmax(0) }},
			{"Sum", func() *tensor.Tensor { return x.Sum() }},
			{"Reshape", func() *tensor.Tensor { return x.Reshape(2, 5) }},
			{"MatMul", func() *tensor.Tensor { return square.MatMul(square) }},
		} {
			b.Run(sel+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if z := c.f(); z != nil {
						z.Free()
					}
				}
			})
		}
	}
}
