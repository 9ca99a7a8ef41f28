package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// prepared is views of a launch, as operations that come before it make them.
type prepared struct{ list operations }

// temporary returns a view of a temporary of its own that a map of operands fills.
func (p *prepared) temporary(f *kernels.Function, t kernels.DType, dims []int, operands ...kernels.View) kernels.View {
	to := kernels.View{Arg: operation.Temp(len(p.list)), Type: t, Strides: rowMajor(dims)}
	p.list = append(p.list, mapped(f, nil, dims, to, operands...))
	return to
}

// bytes returns elements of 8 bits, which may be signed, without their zero points, of a view that may not be there.
func (p *prepared) bytes(signed bool, dims []int, x, zeros kernels.View) kernels.View {
	t := kernels.Uint8
	if signed {
		t = kernels.Int8
	}
	read := func(v kernels.View) kernels.View {
		if v.Type == t {
			return v
		}
		return p.temporary(fn.Identity, t, dims, v)
	}
	if zeros.Strides == nil {
		return read(x)
	}
	return p.temporary(fn.Sub, kernels.Int16, dims, read(x), read(zeros))
}

// zerosAt returns the view of some zero points: one for all elements, or those with the strides.
func zerosAt(in args, arg, count int, strides ...int) kernels.View {
	switch count {
	case 0:
		return kernels.View{}
	case 1:
		clear(strides)
	}
	return view(in, arg, 0, strides...)
}

// matMulIntegerSemantics: A, B, ZA, ZB, C, m, n, k, lda, step, column, nextA, nextB, zerosA, zerosB, sign.
func matMulIntegerSemantics(in args) operations {
	num := func(i int) int { return int(in[i].Int) }
	m, n, k, sign := num(5), num(6), num(7), num(15)
	batch := in[4].N / max(1, m*n)
	var p prepared
	a := p.bytes(sign&1 != 0, []int{batch, m, k}, view(in, 0, 0, num(11), num(8), 1), zerosAt(in, 2, num(13), 0, 1, 0))
	b := p.bytes(sign&2 != 0, []int{batch, k, n}, view(in, 1, 0, num(12), num(9), num(10)),
		zerosAt(in, 3, num(14), 0, 0, 1))
	return append(p.list, &operation.MatMul{Batch: []int{batch}, M: m, N: n, K: k, Slice: max(1, k), A: a, B: b,
		C: view(in, 4, 0, m*n, 0, n, 1)})
}

// convIntegerSemantics: X, W, ZX, ZW, Y, the numbers of the shape, zerosX, zerosW, sign.
func convIntegerSemantics(in args) operations {
	c := &operation.Convolution{ConvolutionSpec: convShapeOf(in, convIntegerNumbers).spec()}
	sign, inputs, weights := in[convIntegerSign].Int, c.Inputs(), c.Weights()
	perChannel := make([]int, len(weights))
	perChannel[0], perChannel[1] = c.Out, 1
	var p prepared
	c.X = p.bytes(sign&1 != 0, inputs, view(in, convIntegerX, 0, rowMajor(inputs)...),
		zerosAt(in, convIntegerZeroX, int(in[convIntegerZerosX].Int), make([]int, len(inputs))...))
	c.W = p.bytes(sign&2 != 0, weights, view(in, convIntegerW, 0, rowMajor(weights)...),
		zerosAt(in, convIntegerZeroW, int(in[convIntegerZerosW].Int), perChannel...))
	c.Y = view(in, convIntegerY, 0, rowMajor(c.Outputs())...)
	return append(p.list, c)
}
