package train_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
	"github.com/clgrad/clgrad/train"
)

// A classifier learns which points lie inside a circle, until the accuracy stops getting better.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	rng := tensor.NewRNG(1)
	points := func(n int) (x, labels *tensor.Tensor) {
		x = rng.Uniform(d, -1, 1, n, 2)
		return x, x.Square().Sum(1).LtScalar(0.5).To(tensor.Int64)
	}
	x, labels := points(500)
	heldBack, heldBackLabels := points(200)
	net := nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{2, 16, 2}, Activations: []nn.Activation{nn.Tanh}})
	opt := optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.Constant(0.02)))

	stop := train.NewEarlyStopping(net, train.EarlyStoppingConfig{Patience: 3, Rising: true})
	confusion := train.NewConfusion(d, 2)
	for range 100 {
		progress := train.NewProgress(new(bytes.Buffer), 20) // os.Stderr in a program
		for range 20 {
			loss := autograd.CrossEntropy(net.Forward(autograd.Const(x)), labels)
			if err := optim.Minimize(opt, loss); err != nil {
				panic(err)
			}
			progress.Step("loss", loss)
		}
		if err := progress.Done(); err != nil {
			panic(err)
		}
		confusion.Reset()
		confusion.Update(net.Forward(autograd.Const(heldBack)).Value(), heldBackLabels)
		m, err := confusion.Matrix()
		if err != nil {
			panic(err)
		}
		if stop.Measured(m.Accuracy()) {
			break
		}
	}
	if err := stop.RestoreBest(); err != nil {
		panic(err)
	}
	best, _ := stop.Best()
	fmt.Println("nine of ten are right:", best > 0.9)
	// Output: nine of ten are right: true
}

func ExampleConfusionMatrix_Table() {
	m := train.ConfusionMatrix{{41, 3}, {5, 51}}
	fmt.Print(m.Table("cat", "dog"))
	fmt.Printf("F1 %.3f\n", m.F1(train.Macro))
	// Output:
	//      cat  dog
	// cat   41    3
	// dog    5   51
	// F1 0.919
}

func ExampleLog() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	log, err := train.OpenLog(folder + "/run.jsonl")
	if err != nil {
		panic(err)
	}
	defer log.Close()
	if err := log.Write(100, "loss", 0.25, "rate", 1e-3); err != nil {
		panic(err)
	}
	text, err := os.ReadFile(folder + "/run.jsonl")
	fmt.Println(string(text[:12]), string(text[len(text)-26:len(text)-1]), err)
	// Output: {"step":100, "loss":0.25,"rate":0.001} <nil>
}
