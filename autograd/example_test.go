package autograd_test

import (
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// The gradient of a function: parameters, operations, Backward.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()

	w := autograd.Param(tensor.New(d, []float32{1, 2, 3}), "w")
	x := autograd.Const(tensor.New(d, []float32{4, 5, 6}))
	loss := w.Mul(x).Sum().Square() // (4 + 10 + 18)²
	if err := loss.Backward(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(loss.Item())
	fmt.Println(w.Grad().Float32s()) // 2·32·x
	// Output:
	// 1024 <nil>
	// [256 320 384] <nil>
}

// A function of one's own is a formula: its kernels and its gradients of any order come from that. This is the activation
// Snake, x + sin²(a·x)/a, with its parameter a.
func ExampleMap() {
	x, a := expr.Input(0), expr.Param(0)
	snake := &kernels.Function{Name: "snake", Value: x.Add(a.Mul(x).Sin().Square().Div(a)), Scalars: []float64{1}}

	d, err := tensor.Open("cpu", tensor.Options{DefaultType: tensor.Float64})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	at := autograd.Param(tensor.New(d, []float32{0, math.Pi / 8}), "x")
	y := autograd.Map(snake, []float64{2}, at)
	values, _ := y.Float64s()
	if err := y.Sum().Backward(); err != nil {
		log.Fatal(err)
	}
	slopes, _ := at.Grad().Float64s() // 1 + sin(2a·x)
	fmt.Printf("%.4f %.4f", values, slopes)
	// Output: [0.0000 0.6427] [1.0000 2.0000]
}

// A value that is no scalar needs the gradient that comes from above; a graph that is walked twice is kept.
func ExampleNode_Backward() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	x := autograd.Param(tensor.New(d, []float32{1, 2, 3}), "x")
	y := x.Square()
	fmt.Println(y.Backward())
	for range 2 { // gradients add up until ZeroGrad
		if err := y.Backward(autograd.BackwardOptions{Seed: tensor.New(d, []float32{1, 10, 100}), Retain: true}); err != nil {
			log.Fatal(err)
		}
		fmt.Println(x.Grad().Float32s())
	}
	// Output:
	// autograd: Backward from Square: only a scalar has a gradient without a seed [3]: pass autograd.BackwardOptions{Seed: g}, or reduce it with Sum or Mean
	// [2 40 600] <nil>
	// [4 80 1200] <nil>
}

// Newton's method: a step is the gradient over its own gradient.
func ExampleGrad() {
	d, err := tensor.Open("cpu", tensor.Options{DefaultType: tensor.Float64})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	x := autograd.Param(tensor.Scalar(d, 3), "x")
	xs := []*autograd.Node{x}
	for range 5 {
		y := x.Exp().Sub(x.MulScalar(2)) // least at log 2
		slope, err := autograd.Grad(y, xs, autograd.GradOptions{CreateGraph: true})
		if err != nil {
			log.Fatal(err)
		}
		curve, err := autograd.Grad(slope[0], xs, autograd.GradOptions{Retain: true})
		if err != nil {
			log.Fatal(err)
		}
		x.Value().SetInPlace(x.Value().Sub(slope[0].Value().Div(curve[0].Value())))
		v, _ := x.Item()
		fmt.Printf("%.3f ", v)
	}
	fmt.Println(x.Grad() == nil) // Grad adds to no parameter
	// Output: 2.100 1.345 0.866 0.707 0.693 true
}

// Gradients are clipped on their way: each that is longer than 1 becomes 1 long.
func ExampleNode_Hook() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	w, b := autograd.Param(tensor.New(d, []float32{1, 2}), "w"), autograd.Param(tensor.New(d, []float32{0.5, 0}), "b")
	for _, p := range []*autograd.Node{w, b} {
		remove := p.Hook(func(g *autograd.Node) *autograd.Node {
			length := g.Square().Sum().Sqrt()
			return g.Mul(length.RDivScalar(1).MinScalar(1)) // on the device: nothing is read back
		})
		defer remove()
	}
	x := autograd.Const(tensor.New(d, []float32{3, 4}))
	if err := w.Mul(x).Sum().Add(b.Square().Sum()).Backward(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Grad().Float32s())
	fmt.Println(b.Grad().Float32s())
	// Output:
	// [0.6 0.8] <nil>
	// [1 0] <nil>
}

// Where did the NaN come from?
func ExampleDetectAnomalies() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	w := autograd.Param(tensor.New(d, []float32{1, 0, 4}), "w")
	err = autograd.DetectAnomalies(d, func() error {
		return w.Sqrt().Sum().Backward()
	})
	var anomaly *autograd.AnomalyError
	if errors.As(err, &anomaly) {
		file, _, _ := strings.Cut(filepath.Base(anomaly.Place), ":")
		fmt.Println(anomaly.Op, anomaly.Value, anomaly.Index, "backward:", anomaly.Backward, file)
	}
	// Output: Sqrt +Inf [1] backward: true example_test.go
}

// The graph of a value, for Graphviz: `dot -Tsvg`.
func ExampleWriteDOT() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	w := autograd.Param(tensor.Full(d, 1, 3), "w")
	loss := w.Tanh().Sum().Named("loss")
	if err := autograd.WriteDOT(os.Stdout, loss); err != nil {
		log.Fatal(err)
	}
	// Output:
	// digraph clgrad {
	// 	graph [rankdir=TB];
	// 	node [shape=box, style=filled, fontname=Helvetica];
	//
	// 	0 [label="w\n[3]", fillcolor=lightblue];
	// 	1 [label="Tanh\n[3]\nk_tanh", fillcolor=white];
	// 	2 [label="loss = Sum\n[]\nk_sum", fillcolor=white];
	//
	// 	0 -> 1;
	// 	1 -> 2;
	// }
}

// Inference records nothing, and its values are freed by the scope that they are made in.
func ExampleNoGrad() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	w := autograd.Param(tensor.Full(d, 2, 3), "w")
	tensor.Scope(d, func() {
		autograd.NoGrad(d, func() {
			y := w.Square().Sum()
			fmt.Println(y.NeedsGrad())
			fmt.Println(y.Item())
		})
	})
	// Output:
	// false
	// 12 <nil>
}

// A frozen parameter takes part in the computation and gets no gradient: fine-tuning trains the rest.
func ExampleNode_Freeze() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	body, head := autograd.Param(tensor.New(d, []float32{2}), "body"), autograd.Param(tensor.New(d, []float32{3}), "head")
	body.Freeze()
	if err := body.Mul(head).Sum().Backward(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(body.Grad() == nil)
	fmt.Println(head.Grad().Float32s())
	// Output:
	// true
	// [2] <nil>
}
