package autograd_test

import (
	"fmt"
	"log"
	"os"

	"github.com/clgrad/clgrad/autograd"
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
	// autograd: Backward from square: only a scalar has a gradient without a seed [3]: pass autograd.BackwardOptions{Seed: g}, or reduce it with Sum or Mean
	// [2 40 600] <nil>
	// [4 80 1200] <nil>
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
	// 	graph [
	// 		rankdir=TB
	// 	];
	// 	node [
	// 		shape=box
	// 		style=filled
	// 		fontname=Helvetica
	// 	];
	//
	// 	// Node definitions.
	// 	0 [
	// 		label="w\n[3]"
	// 		fillcolor=lightblue
	// 	];
	// 	1 [
	// 		label="tanh\n[3]\nk_tanh"
	// 		fillcolor=white
	// 	];
	// 	2 [
	// 		label="loss = Sum\n[]\nk_sum"
	// 		fillcolor=white
	// 	];
	//
	// 	// Edge definitions.
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
