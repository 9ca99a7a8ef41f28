package serve

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestFunc: callers at the same time, of rows of two lengths and two inputs, get the numbers that the
// model computes for theirs alone, to the bit.
func TestFunc(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{3, 8, 2}, Activations: []nn.Activation{nn.Tanh}})
		model := func(in ...*autograd.Node) []*autograd.Node {
			y := net.Forward(in[0])
			return []*autograd.Node{y.Softmax(1), in[1].Sum(1).Mul(y.Select(1, 0)), in[1]}
		}
		inputs := func(i int) []data.Array {
			x, long := make([]float32, 3), make([]float32, 4+i%2)
			for k := range x {
				x[k] = float32(i*k) / 10
			}
			for k := range long {
				long[k] = float32(i + k)
			}
			return []data.Array{data.New(x, 1, 3), data.New(long, 1, len(long))}
		}
		const callers = 20
		want := make([][]data.Array, callers)
		alone := Func(d, model)
		for i := range want {
			var err error
			if want[i], err = alone.compute(inputs(i)); err != nil {
				t.Fatal(err)
			}
		}
		p := started(t, Config{MaxBatch: 8}, Func(d, model))
		var clients sync.WaitGroup
		for i := range callers {
			clients.Go(func() {
				for range 5 {
					got, err := p.Predict(t.Context(), inputs(i)...)
					if err != nil || len(got) != 3 {
						t.Errorf("%d outputs, err %v", len(got), err)
						return
					}
					for k := range got {
						g, w := data.Elements[float32](got[k]), data.Elements[float32](want[i][k])
						if !slices.Equal(g, w) || !slices.Equal(got[k].Shape(), want[i][k].Shape()) {
							t.Errorf("caller %d: output %d is %v, alone %v", i, k, g, w)
						}
					}
				}
			})
		}
		clients.Wait()
	})
}

// calls returns a recorder of a function that counts how often it is called.
func calls(d tensor.Device, f func(in ...*autograd.Node) []*autograd.Node) (r *recorder, count *int) {
	count = new(int)
	return &recorder{device: d, seen: map[string]bool{}, eager: map[string]bool{}, f: func(in ...*autograd.Node) []*autograd.Node {
		*count++
		return f(in...)
	}}, count
}

// runs runs a recorder for ones of a shape, and returns the first number of its output.
func runs(t *testing.T, r *recorder, shape ...int) float64 {
	t.Helper()
	var v float64
	tensor.Scope(r.device, func() {
		out, err := r.run(tensor.Full(r.device, 1, shape...))
		if err != nil {
			t.Fatal(err)
		}
		v = devtest.Float64s(t, out[0])[0]
	})
	return v
}

// TestRecordings: the second time that inputs have shapes the function is recorded, and not called
// again. Recordings are bounded.
func TestRecordings(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		w := tensor.Full(d, 3, 1)
		r, count := calls(d, func(in ...*autograd.Node) []*autograd.Node {
			return []*autograd.Node{in[0].Mul(autograd.Const(w)).Sum(0)}
		})
		for i, want := range []int{1, 3, 3, 3} {
			if v := runs(t, r, 2, 2); v != 6 || *count != want {
				t.Errorf("run %d: %v, %d calls", i, v, *count)
			}
		}
		tensor.Upload(w, []float32{5}) // weights are read, not copied
		if v := runs(t, r, 2, 2); v != 10 {
			t.Errorf("with other weights %v", v)
		}
		for n := range mostRecordings {
			for range 2 {
				runs(t, r, 1, n+1)
			}
		}
		if len(r.made.All()) != mostRecordings || r.made.All()[0].key != "float32[1 32]" {
			t.Errorf("%d recordings, first %s", len(r.made.All()), r.made.All()[0].key)
		}
		runs(t, r, 1, 1)
		if *count -= 3 * mostRecordings; r.made.All()[0].key != "float32[1 1]" || r.made.All()[1].key != "float32[1 32]" || *count != 3 {
			t.Errorf("first %s, %d calls", r.made.All()[0].key, *count)
		}
	})
}

// TestUnrecorded: a function that cannot be recorded, and one that is wrong, is called each time.
func TestUnrecorded(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		r, count := calls(d, func(in ...*autograd.Node) []*autograd.Node {
			v, err := in[0].Sum().Item() // the host reads it
			if err != nil {
				t.Error(err)
			}
			return []*autograd.Node{in[0].MulScalar(v)}
		})
		for range 4 {
			if v := runs(t, r, 2); v != 2 {
				t.Errorf("%v", v)
			}
		}
		if *count < 4 || len(r.made.All()) != 0 {
			t.Errorf("%d calls, %d recordings", *count, len(r.made.All()))
		}
		worker := Func(d, func(in ...*autograd.Node) []*autograd.Node { return []*autograd.Node{in[0].Reshape(5), nil} })
		for range 4 {
			if _, err := worker.compute([]data.Array{row(1)}); err == nil || !strings.Contains(err.Error(), "Reshape") {
				t.Errorf("err %v", err)
			}
			if _, err := worker.compute([]data.Array{row(1, 2, 3, 4, 5)}); err == nil || !strings.Contains(err.Error(), "output 1 of the function is nil") {
				t.Errorf("err %v", err)
			}
		}
	})
}

// TestMemory: what a request is computed with is freed, that of errors too.
func TestMemory(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		devtest.Uncollected(t)
		w := Func(d, func(in ...*autograd.Node) []*autograd.Node {
			if in[0].Shape()[1] == 3 {
				panic("three")
			}
			return []*autograd.Node{in[0].Exp().Sum(1)}
		})
		held := func() int64 {
			for range 3 {
				for n := 1; n < 5; n++ {
					if _, err := w.compute([]data.Array{row(make([]float32, n)...)}); (err != nil) != (n == 3) {
						t.Fatalf("err %v", err)
					}
				}
			}
			return d.Stats().LiveBytes
		}
		if first, second := held(), held(); first != second {
			t.Errorf("%d bytes are held, and then %d", first, second)
		}
	})
}
