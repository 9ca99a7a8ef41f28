package optim_test

import (
	"fmt"
	"log"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// A training loop: the line through four points, y = 3x − 1.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	x := autograd.Const(tensor.New(d, []float32{0, 1, 2, 3}, 4, 1))
	y := autograd.Const(tensor.New(d, []float32{-1, 2, 5, 8}, 4, 1))
	slope := autograd.Param(tensor.Zeros(d, 1, 1), "slope")
	offset := autograd.Param(tensor.Zeros(d, 1), "offset")

	opt := optim.NewAdamW([]*autograd.Node{slope, offset}, optim.AdamWDefaults(optim.Cosine(0.1, 0, 1000)))
	for range 1000 {
		loss := x.MatMul(slope).Add(offset).Sub(y).Square().Mean()
		if err := loss.Backward(); err != nil { // frees the values in between
			log.Fatal(err)
		}
		loss.Free()
		if err := opt.Step(); err != nil {
			log.Fatal(err)
		}
		opt.ZeroGrad()
	}
	a, err := slope.Item()
	if err != nil {
		log.Fatal(err)
	}
	b, err := offset.Item()
	fmt.Printf("y = %.1fx %+.1f %v\n", a, b, err)
	// Output: y = 3.0x -1.0 <nil>
}

// Settings other than PyTorch's.
func ExampleNewAdamW() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	w := autograd.Param(tensor.New(d, []float32{4}), "w")
	cfg := optim.AdamWDefaults(optim.Warmup(10, optim.Constant(0.1)))
	cfg.Beta2, cfg.WeightDecay = 0.99, 0
	opt := optim.NewAdamW([]*autograd.Node{w}, cfg)
	for range 300 {
		loss := w.AddScalar(-1).Square().Sum()
		if err := loss.Backward(); err != nil {
			log.Fatal(err)
		}
		loss.Free()
		if err := opt.Step(); err != nil {
			log.Fatal(err)
		}
		opt.ZeroGrad()
	}
	v, err := w.Item()
	fmt.Printf("%.1f %v, %d steps\n", v, err, opt.Steps())
	// Output: 1.0 <nil>, 300 steps
}

// The state of an optimizer is tensors by name, for tensor.SaveNPZ, and the number of steps.
func ExampleAdamW_State() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	adam := func() *optim.AdamW {
		w := autograd.Param(tensor.Full(d, 1, 2, 3), "w")
		return optim.NewAdamW([]*autograd.Node{w}, optim.AdamWDefaults(optim.Constant(0.1)))
	}
	stopped, resumed := adam(), adam()
	state := stopped.State()
	fmt.Println(state.Steps, state.Tensors["m.w"].Shape(), state.Tensors["v.w"].Shape())
	fmt.Println(resumed.Restore(state))
	// Output:
	// 0 [2 3] [2 3]
	// <nil>
}

// A batch too large for the memory, in parts: gradients add up over calls of Backward until ZeroGrad, so that a step follows
// several. Each part counts by its share of the batch.
func Example_accumulation() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	x, y := tensor.New(d, []float32{0, 1, 2, 3, 4, 5}, 6, 1), tensor.New(d, []float32{-1, 2, 5, 8, 11, 14}, 6, 1)
	slope := autograd.Param(tensor.Zeros(d, 1, 1), "slope")
	params := []*autograd.Node{slope}
	opt := optim.NewSGD(params, optim.SGDConfig{LR: optim.Constant(0.01)})
	const part = 2
	for at := 0; at < 6; at += part {
		loss := autograd.Const(x.Slice(0, at, at+part)).MatMul(slope).Sub(autograd.Const(y.Slice(0, at, at+part))).Square().Mean()
		if err := loss.MulScalar(part / 6.0).Backward(); err != nil {
			log.Fatal(err)
		}
	}
	norm, err := optim.ClipNorm(params, 20).Item() // of the whole batch: after the last part
	if err != nil {
		log.Fatal(err)
	}
	if err := opt.Step(); err != nil {
		log.Fatal(err)
	}
	opt.ZeroGrad()
	v, err := slope.Item()
	fmt.Printf("gradient %.1f, slope %.2f %v\n", norm, v, err)
	// Output: gradient 50.0, slope 0.20 <nil>
}

// Biases are not decayed, and a head that is new learns faster.
func ExampleGroup() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	weight, bias := autograd.Param(tensor.Full(d, 1, 2, 2), "weight"), autograd.Param(tensor.Full(d, 1, 2), "bias")
	head := autograd.Param(tensor.Full(d, 1, 2), "head")

	cfg := optim.AdamWDefaults(optim.Constant(0.001))
	noDecay, fast := cfg, cfg
	noDecay.WeightDecay = 0
	fast.LR = optim.Constant(0.1)
	cfg.Groups = []optim.Group[optim.AdamWConfig]{
		{Params: []*autograd.Node{bias}, Config: noDecay},
		{Params: []*autograd.Node{head}, Config: fast},
	}
	opt := optim.NewAdamW([]*autograd.Node{weight, bias, head}, cfg)
	if err := weight.Add(bias).Mul(head).Sum().Backward(); err != nil {
		log.Fatal(err)
	}
	if err := opt.Step(); err != nil {
		log.Fatal(err)
	}
	for _, p := range []*autograd.Node{weight, bias, head} {
		v, err := p.Float64s()
		fmt.Printf("%s %.5f %v\n", p.Name(), v[0], err)
	}
	// Output:
	// weight 0.99899 <nil>
	// bias 0.99900 <nil>
	// head 0.89900 <nil>
}

// Averages of the weights, updated after each step, for evaluation.
func ExampleEMA() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	w := autograd.Param(tensor.New(d, []float32{1}), "w")
	params := []*autograd.Node{w}
	opt := optim.NewSGD(params, optim.SGDConfig{LR: optim.Constant(1)})
	ema := optim.NewEMA(params, 0.75)
	for range 2 {
		if err := w.Sum().Backward(); err != nil {
			log.Fatal(err)
		}
		if err := opt.Step(); err != nil {
			log.Fatal(err)
		}
		opt.ZeroGrad()
		if err := ema.Update(); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(w.Item())
	if err := ema.Use(func() { fmt.Println(w.Item()) }); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Item())
	// Output:
	// -1 <nil>
	// 0.3125 <nil>
	// -1 <nil>
}

// The learning rate falls when the loss stops falling.
func ExamplePlateau() {
	cfg := optim.PlateauDefaults(0.1)
	cfg.Patience = 1
	plateau := optim.NewPlateau(cfg) // plateau.LR is the schedule of an optimizer
	for epoch, loss := range []float64{3, 2, 2.5, 2.1, 1} {
		plateau.Measured(loss)
		fmt.Printf("%d: %.2f\n", epoch, plateau.LR(0))
	}
	// Output:
	// 0: 0.10
	// 1: 0.10
	// 2: 0.10
	// 3: 0.01
	// 4: 0.01
}
