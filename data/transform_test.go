package data_test

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// noisy makes of row i the pair (i + noise, label) by workers that take a random time for it.
func noisy(workers int) *data.Transform {
	return &data.Transform{Workers: workers, Makes: []data.Array{data.New([]float32{}, 0, 2), data.New([]int64{0})},
		Do: func(e data.Example) error {
			x, y := data.Elements[float32](e.Out[0]), data.Elements[int64](e.Out[1])
			time.Sleep(time.Duration(e.RNG.IntN(200)) * time.Microsecond)
			for i := range x {
				x[i] = float32(data.Elements[int32](e.In[0])[0]) + e.RNG.Float32()/2
			}
			y[0] = int64(e.Row + 100*e.Epoch)
			return nil
		}}
}

// batches returns what is left of an epoch: the numbers of all tensors of each batch.
func batches(t *testing.T, l *data.Loader) (all [][]float64) {
	t.Helper()
	for b := range l.Epoch() {
		var one []float64
		for _, x := range b {
			one = append(one, devtest.Float64s(t, x)...)
		}
		all = append(all, one)
	}
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTransform: examples follow from seed, epoch and row, on any number of workers, also where a
// loop resumes; the rows, the tensors and their types are those that the transform makes.
func TestTransform(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rows := []data.Array{data.New(count[int32](23))}
		for _, cfg := range []data.LoaderConfig{{Batch: 5, Seed: 4}, {Batch: 1, Seed: 4}, {Batch: 30, InOrder: true}, {Batch: 6, DropLast: true}} {
			var want [][]float64
			for _, workers := range []int{1, 3, 16, 0} {
				cfg.Transform = noisy(workers)
				l := data.NewLoader(d, rows, cfg)
				got := append(batches(t, l), batches(t, l)...)
				if want == nil {
					want = got
				}
				if !slices.EqualFunc(got, want, slices.Equal) {
					t.Errorf("%+v: %d workers make other examples", cfg, workers)
				}
				for range l.Epoch() { // the third epoch, left in the middle
					break
				}
				resumed := data.NewLoader(d, rows, cfg)
				if err := resumed.Restore(l.State()); err != nil {
					t.Fatal(err)
				}
				if a, b := batches(t, l), batches(t, resumed); !slices.EqualFunc(a, b, slices.Equal) || len(a) != l.Batches()-1 {
					t.Errorf("%+v: %d workers: a loop that resumes makes other examples", cfg, workers)
				}
			}
			seen := map[float64]int{}
			for i, b := range want {
				n := len(b) / 3
				for k := range n {
					row, x := b[2*n+k], b[2*k:2*k+2]
					epoch := float64(i / (len(want) / 2))
					if seen[row]++; row-100*epoch != float64(int(x[0])) || x[0] == x[1] {
						t.Errorf("%+v: row %v is %v in epoch %v", cfg, row, x, epoch)
					}
				}
			}
			if !cfg.DropLast && len(seen) != 46 {
				t.Errorf("%+v: %d rows in two epochs of 23", cfg, len(seen))
			}
		}
		other := data.NewLoader(d, rows, data.LoaderConfig{Batch: 23, InOrder: true, Seed: 5, Transform: noisy(2)})
		if a := batches(t, other); slices.Equal(a[0], batches(t, other)[0]) {
			t.Error("two epochs draw the same numbers")
		}
	})
}

// TestTransformInto: batches go to the caller's tensors, of the types that the transform makes.
func TestTransformInto(t *testing.T) {
	d := devtest.CPU(t)
	into := []*tensor.Tensor{tensor.ZerosOf(d, tensor.Float32, 4, 2), tensor.ZerosOf(d, tensor.Int64, 4)}
	cfg := data.LoaderConfig{Batch: 4, DropLast: true, Transform: noisy(2), Into: into}
	l := data.NewLoader(d, []data.Array{data.New(count[int32](9))}, cfg)
	for b := range l.Epoch() {
		if b[0] != into[0] || b[1] != into[1] {
			t.Error("a batch is not in Into")
		}
	}
	if v := devtest.Float64s(t, into[1]); slices.Max(v) == 0 || l.Err() != nil {
		t.Errorf("%v (err %v)", v, l.Err())
	}
}

// TestTransformFails: the first example that fails, in the order of the rows, ends the loop before
// its batch, whatever the workers do first; the next loop tries it again.
func TestTransformFails(t *testing.T) {
	d := devtest.CPU(t)
	var repaired atomic.Bool
	cfg := data.LoaderConfig{Batch: 3, InOrder: true, Transform: &data.Transform{Workers: 4, Makes: []data.Array{data.New([]int32{})},
		Do: func(e data.Example) error {
			data.Elements[int32](e.Out[0])[0] = int32(e.Row)
			switch {
			case repaired.Load():
			case e.Row == 7:
				time.Sleep(2 * time.Millisecond)
				return &fs.PathError{Op: "read", Path: "seven.png", Err: fs.ErrNotExist}
			case e.Row > 7:
				return errors.New("another")
			}
			return nil
		}}}
	l := data.NewLoader(d, []data.Array{data.New(count[int32](12))}, cfg)
	before := runtime.NumGoroutine()
	for round := range 3 {
		n := 0
		for range l.Epoch() {
			n++
		}
		if n != []int{2, 0, 0}[round] {
			t.Errorf("round %d: %d batches before the error", round, n)
		}
		if s := l.State(); s.Taken != 2 || s.Epoch != 0 {
			t.Errorf("state %+v", s)
		}
		err := l.Err()
		if !errors.Is(err, fs.ErrNotExist) || err.Error() != "data: epoch 0, row 7: read seven.png: file does not exist" {
			t.Errorf("err = %v", err)
		}
	}
	for range l.Epoch() {
	}
	if err := tensor.Try(func() {
		for range l.Epoch() {
		}
	}); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "call Err after each loop: the last one ended with data: epoch 0, row 7") {
		t.Errorf("an error that nobody read: %v", err)
	}
	_ = l.Err()
	repaired.Store(true)
	if rest := batches(t, l); len(rest) != 2 || rest[0][1] != 7 {
		t.Errorf("after the repair: %v", rest)
	}
	devtest.AtMostGoroutines(t, before)
}

// TestTransformPanics: a panic of a worker is one of the loop, with its value; so is the end of its
// goroutine.
func TestTransformPanics(t *testing.T) {
	d := devtest.CPU(t)
	for want, do := range map[string]func(data.Example) error{
		"at 2":                  func(e data.Example) error { panic(fmt.Sprint("at ", e.Row)) },
		"called runtime.Goexit": func(data.Example) error { runtime.Goexit(); return nil },
		"not int64":             func(e data.Example) error { data.Elements[int64](e.Out[0])[0] = 1; return nil },
	} {
		cfg := data.LoaderConfig{Batch: 2, InOrder: true, Transform: &data.Transform{Workers: 3, Makes: []data.Array{data.New([]int32{})}, Do: func(e data.Example) error {
			if e.Row < 2 {
				return nil
			}
			return do(e)
		}}}
		l := data.NewLoader(d, []data.Array{data.New(count[int32](40))}, cfg)
		got := func() (p any) {
			defer func() { p = recover() }()
			for range l.Epoch() {
			}
			return nil
		}()
		if !strings.Contains(fmt.Sprint(got), want) || l.State().Taken != 1 {
			t.Errorf("panic %v after %d batches, want %s", got, l.State().Taken, want)
		}
	}
}

// TestTransformLeft: a loop that is left waits for the examples that are being made, tells them, and
// leaves no goroutine behind; no more is begun.
func TestTransformLeft(t *testing.T) {
	d := devtest.CPU(t)
	var begun, told atomic.Int32
	second := make(chan struct{})
	cfg := data.LoaderConfig{Batch: 1, InOrder: true, Transform: &data.Transform{Workers: 4, Makes: []data.Array{data.New([]int32{})}, Do: func(e data.Example) error {
		begun.Add(1)
		switch e.Row {
		case 0:
			<-second
		case 1:
			close(second)
			fallthrough
		default:
			<-e.Context.Done()
			told.Add(1)
		}
		return e.Context.Err()
	}}}
	l := data.NewLoader(d, []data.Array{data.New(count[int32](1000))}, cfg)
	before := runtime.NumGoroutine()
	for range l.Epoch() {
		break
	}
	devtest.AtMostGoroutines(t, before)
	if b := begun.Load(); b < 2 || b > 20 || told.Load() != b-1 || l.Err() != nil {
		t.Errorf("%d examples were begun, %d told; err = %v", b, told.Load(), l.Err())
	}
}

// TestTransformMisuse: what is wrong is named before an example is made.
func TestTransformMisuse(t *testing.T) {
	d := devtest.CPU(t)
	rows, do := []data.Array{data.New(count[int32](3))}, func(data.Example) error { return nil }
	for says, c := range map[string]data.LoaderConfig{
		"Makes, of an array or more, and Do":           {Batch: 1, Transform: &data.Transform{Do: do}},
		"Makes, of an array or more, and Do\x00":       {Batch: 1, Transform: &data.Transform{Makes: rows}},
		"zero value":                                   {Batch: 1, Transform: &data.Transform{Makes: make([]data.Array, 1), Do: do}},
		"Transform.Workers is -1":                      {Batch: 1, Transform: &data.Transform{Makes: rows, Do: do, Workers: -1}},
		"LoaderConfig.Into has 2 tensors for 1 arrays": {Batch: 1, Transform: &data.Transform{Makes: rows, Do: do}, Into: make([]*tensor.Tensor, 2)},
	} {
		err := tensor.Try(func() { data.NewLoader(d, rows, c) })
		if !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), strings.TrimSuffix(says, "\x00")) {
			t.Errorf("%q: err = %v", says, err)
		}
	}
}
