package tensor

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// ConvIntegerOptions are those of [ConvInteger]: of the convolution, and what the integers stand for.
type ConvIntegerOptions struct {
	ConvOptions
	// ZeroX and ZeroW are zero points, which are subtracted: of the type of their operand, and one number, or of ZeroW
	// [out], one for each output channel. Nil is 0.
	ZeroX, ZeroW *Tensor
}

// ConvInteger returns the convolution of integers of 8 bits, as Int32:
//
//	y[n, o, p] = Σ_c Σ_r (x[n, c, p·Stride − Padding + r·Dilation] − ZeroX)·(w[o, c, r] − ZeroW[o])
//
// for x [batch, in, …] or [in, …] and w [out, in/groups, …] of Int8 or Uint8, also one of each, with 1, 2 or 3 spatial
// axes: the shapes and options are those of [Tensor.Conv]. Padding counts as ZeroX, so that it adds 0. It is exact: sums
// wrap around in 32 bits, which those of up to 33,025 products never do. It panics with ErrType for other types, with
// ErrShape, and with ErrValue for options that there are not. Source: ONNX, operator ConvInteger.
func ConvInteger(x, w *Tensor, o ...ConvIntegerOptions) *Tensor {
	const op = "ConvInteger"
	options := only(op, o)
	d := check(op, x, w)
	mustBeBytes(op, x, w)
	mustBeConvShapes(op, x, w)
	s := convShape(op, x, w, []ConvOptions{options.ConvOptions})
	zx := zeroPointsOf(op, "ZeroX", options.ZeroX, x, 1)
	defer zx.release()
	zw := zeroPointsOf(op, "ZeroW", options.ZeroW, w, w.shape[0])
	defer zw.release()
	y := alloc(op, d, Int32, s.result)
	switch {
	case y.Len() == 0:
		return y
	case x.Len() == 0 || w.Len() == 0:
		y.zero()
		return y
	}
	if inFloats(&s.ConvShape, x, w, options) {
		fx, fw := lessZero(x, options.ZeroX, 1), lessZero(w, options.ZeroW, w.Rank())
		sums := alloc(op, d, Float32, y.shape)
		convTiles(&s.ConvShape, false, fx, fw, noBias(fx), false, sums)
		copyTo(y, sums)
		for _, t := range []*Tensor{fx, fw, sums} {
			t.Free()
		}
		return y
	}
	cx, cw := x.contiguous(), w.contiguous()
	defer cx.release()
	defer cw.release()
	list := d.core().list()
	args := s.Args(append(list.args, cx.arg(), cw.arg(), zx.arg, zw.arg, y.arg()))
	list.launch(d, ops.ConvInteger,
		append(args, kernels.IntArg(zx.count), kernels.IntArg(zw.count), kernels.IntArg(signs(x, w))))
	return y
}

// inFloats reports whether a convolution of integers is that of floats, and exact: on PoCL and the like, where kernels of
// integers compute several channels of a group at once, one of few channels for each group, such as a depthwise one, and
// not too little work for some launches.
func inFloats(s *ops.ConvShape, x, w *Tensor, o ConvIntegerOptions) bool {
	const channels, products = 8, 1 << 18
	d := x.Device()
	_, host := d.(*goDevice)
	if host || !d.Target().CPU || s.Out >= channels || s.Batch*s.Products() < products {
		return false
	}
	largest := func(t, zero *Tensor) int {
		if t.typ == Int8 && zero == nil {
			return 128
		}
		return 255
	}
	const exact = 1 << 24
	return largest(x, o.ZeroX)*largest(w, o.ZeroW)*s.In*intmath.Product(s.Kernel[:]) <= exact
}

// lessZero returns t less zero points as Float32: one for all, or one for each index of the first of so many axes.
func lessZero(t, zero *Tensor, axes int) *Tensor {
	y := t.To(Float32)
	if zero != nil {
		shape := make1(axes)
		shape[0] = zero.Len()
		z := zero.Reshape(shape...)
		y.MapInPlace(fn.Sub, nil, z)
		z.Free()
	}
	return y
}

// signs tells kernels which operands of 8 bits are signed: 1 if a is, plus 2 if b is.
func signs(a, b *Tensor) int {
	n := 0
	if a.typ == Int8 {
		n |= 1
	}
	if b.typ == Int8 {
		n |= 2
	}
	return n
}
