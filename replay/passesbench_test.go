package replay_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// BenchmarkPasses measures what the passes and the plan of memory take, without the kernels that are
// built: the least of all recordings, in milliseconds. The steps have about as many launches as their names say.
func BenchmarkPasses(b *testing.B) {
	for _, kind := range passesSteps {
		for _, n := range []int{300, 1000, 5000} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				d, err := tensor.Open("cpu")
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				step := kind.step(d, n)
				least := math.Inf(1)
				var report replay.Report
				for b.Loop() {
					rec, err := replay.Record(d, step)
					if err != nil {
						b.Fatal(err)
					}
					report = rec.Report()
					least = min(least, 1e3*(report.Rewriting+rec.Times().Planning).Seconds())
					rec.Free()
				}
				b.ReportMetric(float64(report.Step), "launches")
				b.ReportMetric(float64(report.Launches), "fused")
				b.ReportMetric(least, "ms-passes")
			})
		}
	}
}

// passesSteps make steps of about n launches.
var passesSteps = []struct {
	name string
	step func(d tensor.Device, n int) func() ([]*tensor.Tensor, error)
}{
	{"chain", func(d tensor.Device, n int) func() ([]*tensor.Tensor, error) {
		x := tensor.Full(d, 0.5, 64, 64)
		return func() ([]*tensor.Tensor, error) {
			y := x
			for i := range n {
				switch i % 4 {
				case 0:
					y = y.MulScalar(0.5)
				case 1:
					y = y.Add(x)
				case 2:
					y = y.Tanh()
				case 3:
					y = y.Square()
				}
			}
			return []*tensor.Tensor{y}, nil
		}
	}},
	{"independent", func(d tensor.Device, n int) func() ([]*tensor.Tensor, error) {
		var in, out []*tensor.Tensor
		for i := range n {
			in, out = append(in, tensor.Full(d, 0.5, 4, 1+i%31)), append(out, tensor.Full(d, 0, 1+i%31))
		}
		return func() ([]*tensor.Tensor, error) {
			for i := range n {
				if i%2 == 0 {
					in[i].MapInPlace(fn.Tanh, nil)
				} else {
					out[i].SetInPlace(in[i].Sum(0))
				}
			}
			return nil, nil
		}
	}},
	{"mlp", func(d tensor.Device, n int) func() ([]*tensor.Tensor, error) {
		sizes := make([]int, max(3, n/6))
		for i := range sizes {
			sizes[i] = 8 + i%3
		}
		rng := tensor.NewRNG(1)
		net := nn.NewMLP(d, rng, nn.MLPConfig{Sizes: sizes, Activations: []nn.Activation{nn.Tanh}})
		opt := optim.NewAdam(nn.Params(net), optim.AdamDefaults(optim.Constant(0.01)))
		x := autograd.Const(rng.Normal(d, 0, 1, 16, sizes[0]))
		return func() ([]*tensor.Tensor, error) {
			return nil, optim.Minimize(opt, net.Forward(x).Square().Mean())
		}
	}},
	{"resnet", func(d tensor.Device, n int) func() ([]*tensor.Tensor, error) {
		rng := tensor.NewRNG(1)
		conv := func(in int) *nn.Conv {
			return nn.NewConv(d, rng, nn.ConvConfig{In: in, Out: 4, Kernel: []int{3, 3},
				ConvOptions: tensor.ConvOptions{Padding: []int{1}}})
		}
		type block struct {
			Conv *nn.Conv
			Norm *nn.BatchNorm
		}
		var net struct {
			First  *nn.Conv
			Blocks []block
			Head   *nn.Linear
		}
		net.First = conv(3)
		for range n / 25 {
			net.Blocks = append(net.Blocks, block{conv(4), nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 4})})
		}
		net.Head = nn.NewLinear(d, rng, nn.LinearConfig{In: 4, Out: 10})
		opt := optim.NewSGD(nn.Params(&net), optim.SGDConfig{LR: optim.Constant(0.01), Momentum: 0.9})
		x := autograd.Const(rng.Normal(d, 0, 1, 2, 3, 8, 8))
		labels := devtest.New(d, []int64{1, 2})
		return func() ([]*tensor.Tensor, error) {
			y := net.First.Forward(x)
			for _, b := range net.Blocks {
				y = y.Add(b.Norm.Forward(b.Conv.Forward(y)).ReLU())
			}
			return nil, optim.Minimize(opt, autograd.CrossEntropy(net.Head.Forward(y.Mean(2, 3)), labels))
		}
	}},
}
