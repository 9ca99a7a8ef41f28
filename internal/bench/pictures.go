package bench

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// convNorm is a convolution without bias, and a batch norm.
func convNorm(d tensor.Device, rng *tensor.RNG, in, out, kernel, stride int) nn.Sequential {
	return nn.Sequential{
		nn.NewConv(d, rng, nn.ConvConfig{In: in, Out: out, Kernel: []int{kernel, kernel}, NoBias: true,
			ConvOptions: tensor.ConvOptions{Stride: []int{stride}, Padding: []int{kernel / 2}}}),
		nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: out})}
}

// basicBlock adds its input to what two convolutions make of it. Where the size changes, the
// shortcut is a convolution too.
type basicBlock struct{ Convs, Shortcut nn.Sequential }

func (b *basicBlock) Forward(x *node) *node {
	return b.Convs.Forward(x).Add(b.Shortcut.Forward(x)).ReLU()
}

func resnet18(d tensor.Device) net {
	const batch, width = 8, 16
	rng := tensor.NewRNG(1)
	m := nn.Sequential{convNorm(d, rng, 3, width, 3, 1), nn.ReLU}
	in := width
	for stage := range 4 {
		out := width << stage
		for block := range 2 {
			stride, shortcut := 1, nn.Sequential{}
			if block == 0 && stage > 0 {
				stride, shortcut = 2, convNorm(d, rng, in, out, 1, 2)
			}
			convs := nn.Sequential{convNorm(d, rng, in, out, 3, stride), nn.ReLU, convNorm(d, rng, out, out, 3, 1)}
			m = append(m, &basicBlock{convs, shortcut})
			in = out
		}
	}
	m = append(m, &nn.AdaptiveAvgPool{Size: []int{1, 1}}, &nn.Flatten{},
		nn.NewLinear(d, rng, nn.LinearConfig{In: in, Out: 10}))
	x := autograd.Const(rng.Uniform(d, 0, 1, batch, 3, 32, 32))
	return classifier("resnet18", m, func() *node { return m.Forward(x) }, rng.Ints(d, 10, batch))
}

// unetLevel is a level of a U-Net and, within it, those of half the size; the last has none.
type unetLevel struct {
	Down, Up nn.Sequential // before and after the levels within
	Pool     *nn.MaxPool
	Within   *unetLevel
	Grow     *nn.ConvTranspose
}

func (l *unetLevel) Forward(x *node) *node {
	x = l.Down.Forward(x)
	if l.Within == nil {
		return x
	}
	within := l.Grow.Forward(l.Within.Forward(l.Pool.Forward(x)))
	return l.Up.Forward(autograd.Concat(1, x, within))
}

// newUNetLevel makes a level of the first of the widths, and those within of the others.
func newUNetLevel(d tensor.Device, rng *tensor.RNG, in int, widths ...int) *unetLevel {
	out := widths[0]
	two := func(in int) nn.Sequential {
		return nn.Sequential{convNorm(d, rng, in, out, 3, 1), nn.ReLU, convNorm(d, rng, out, out, 3, 1), nn.ReLU}
	}
	l := &unetLevel{Down: two(in)}
	if len(widths) > 1 {
		l.Pool = &nn.MaxPool{Window: []int{2, 2}}
		l.Within = newUNetLevel(d, rng, out, widths[1:]...)
		l.Grow = nn.NewConvTranspose(d, rng, nn.ConvTransposeConfig{In: widths[1], Out: out, Kernel: []int{2, 2},
			ConvTransposeOptions: tensor.ConvTransposeOptions{Stride: []int{2}}})
		l.Up = two(2 * out)
	}
	return l
}

func unet(d tensor.Device) net {
	const batch, size, classes = 4, 64, 2
	rng := tensor.NewRNG(1)
	m := nn.Sequential{newUNetLevel(d, rng, 3, 16, 32, 64),
		nn.NewConv(d, rng, nn.ConvConfig{In: 16, Out: classes, Kernel: []int{1, 1}})}
	x := autograd.Const(rng.Uniform(d, 0, 1, batch, 3, size, size))
	return classifier("unet", m, func() *node { return m.Forward(x) }, rng.Ints(d, classes, batch, size, size))
}
