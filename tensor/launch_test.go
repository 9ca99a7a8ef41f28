package tensor_test

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestLaunchArguments: what does not fit the kernel is an error that says how, and changes nothing;
// the device continues.
func TestLaunchArguments(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		z := tensor.Full(d, 5, 4)
		ints := devtest.New(d, []int32{1, 2, 3, 4})
		foreign := tensor.Zeros(devtest.Open(t, "cpu", tensor.Options{}), 4)
		released, err := d.Alloc(d.DefaultType(), 4)
		if err != nil {
			t.Fatal(err)
		}
		d.Release(released)
		whole := z.Arg()
		cut := func(off, n int) kernels.Arg { a := whole; a.Off, a.N = off, n; return a }
		host := kernels.BufferArg(kernels.NewHostBuffer(d.DefaultType(), 4), 0, 4)
		for _, c := range []struct {
			kind error
			say  string
			args []kernels.Arg
		}{
			{tensor.ErrArgument, "argument 2, value, is a float, not an int", []kernels.Arg{whole, kernels.IntArg(4), kernels.IntArg(7)}},
			{tensor.ErrArgument, "argument 1, n, is an int, not a float", []kernels.Arg{whole, kernels.FloatArg(4), kernels.FloatArg(7)}},
			{tensor.ErrArgument, "argument 0, Y, is memory, not an int", []kernels.Arg{kernels.IntArg(1), kernels.IntArg(4), kernels.FloatArg(7)}},
			{tensor.ErrArgument, "argument 1, n, is an int, not nothing", []kernels.Arg{whole, {}, kernels.FloatArg(7)}},
			{tensor.ErrArgument, "takes 3 arguments (Y, n, value), not 2", []kernels.Arg{whole, kernels.IntArg(4)}},
			{tensor.ErrArgument, "takes 3 arguments (Y, n, value), not 4", []kernels.Arg{whole, kernels.IntArg(4), kernels.FloatArg(7), kernels.FloatArg(7)}},
			{tensor.ErrArgument, "type float32, not int32", []kernels.Arg{ints.Arg(), kernels.IntArg(4), kernels.FloatArg(7)}},
			{tensor.ErrArgument, "5 elements from 0 on, of memory that has 4", []kernels.Arg{cut(0, 5), kernels.IntArg(4), kernels.FloatArg(7)}},
			{tensor.ErrArgument, "4 elements from 1 on", []kernels.Arg{cut(1, 4), kernels.IntArg(4), kernels.FloatArg(7)}},
			{tensor.ErrArgument, "-1 elements", []kernels.Arg{cut(0, -1), kernels.IntArg(4), kernels.FloatArg(7)}},
			{tensor.ErrArgument, "from -1 on", []kernels.Arg{cut(-1, 2), kernels.IntArg(4), kernels.FloatArg(7)}},
			{tensor.ErrDevice, "argument 0, Y, is no memory of", []kernels.Arg{foreign.Arg(), kernels.IntArg(4), kernels.FloatArg(7)}},
			{tensor.ErrDevice, "argument 0, Y, is no memory of", []kernels.Arg{kernels.BufferArg(nil, 0, 4), kernels.IntArg(4), kernels.FloatArg(7)}},
			{tensor.ErrDevice, "argument 0, Y, is no memory of", []kernels.Arg{host, kernels.IntArg(4), kernels.FloatArg(7)}},
			{tensor.ErrDevice, "was released", []kernels.Arg{kernels.BufferArg(released, 0, 4), kernels.IntArg(4), kernels.FloatArg(7)}},
		} {
			err := tensor.Try(func() { tensor.Launch(d, ops.Fill, c.args...) })
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), "tensor: Launch: ") || !strings.Contains(err.Error(), c.say) {
				t.Errorf("err = %v, want %v that says %q", err, c.kind, c.say)
			}
		}
		if v, err := z.Float64s(); err != nil || !reflect.DeepEqual(v, []float64{5, 5, 5, 5}) {
			t.Errorf("after launches that were refused: %v, %v", v, err)
		}
		tensor.Launch(d, ops.Fill, cut(4, 0), kernels.IntArg(0), kernels.FloatArg(7)) // nothing, at the end
		tensor.Launch(d, ops.Fill, whole, kernels.IntArg(4), kernels.FloatArg(7))
		if v, err := z.Float64s(); err != nil || !reflect.DeepEqual(v, []float64{7, 7, 7, 7}) {
			t.Errorf("after a launch that is right: %v, %v", v, err)
		}
	})
}

// TestTwoGoroutines: while one goroutine is in a launch, another that allocates, launches, copies
// or reads gets ErrGoroutine and has changed nothing; the first one's results are right, and later
// the second one may continue.
func TestTwoGoroutines(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	entered, leave := make(chan struct{}), make(chan struct{})
	slow := &kernels.Kernel{Name: "k_slow", Params: []kernels.Param{{Name: "Y", Mode: kernels.Out}},
		Grid: func([]kernels.Arg, kernels.Target) kernels.Grid {
			return kernels.Grid{Dims: 1, Global: [3]int{1}, Local: [3]int{1}}
		},
		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			close(entered)
			<-leave
			c.Floats(0)[0] = 42
		}}}
	x, y := tensor.Full(d, 3, 4), tensor.Zeros(d, 1)
	var first sync.WaitGroup
	first.Go(func() { tensor.Launch(d, slow, y.Arg()) })
	<-entered
	for name, f := range map[string]func(){
		"Alloc":    func() { _, _ = d.Alloc(kernels.Float32, 4) },
		"Empty":    func() { tensor.Empty(d, 4) },
		"Zeros":    func() { tensor.Zeros(d, 4) },
		"Full":     func() { tensor.FullOf(d, tensor.Int32, 1, 4) },
		"New":      func() { devtest.New(d, []float32{1, 2}) },
		"Add":      func() { x.Add(x) },
		"Sum":      func() { x.Sum() },
		"Launch":   func() { x.FillInPlace(1) },
		"Upload":   func() { tensor.Upload(x, []float32{1, 2, 3, 4}) },
		"Download": func() { x.Float64s() },
	} {
		err := tensor.Try(f)
		var e *tensor.Error
		if !errors.Is(err, tensor.ErrGoroutine) || !errors.As(err, &e) || e.Op != name {
			t.Errorf("%s beside a launch: err = %v, want ErrGoroutine", name, err)
		}
	}
	close(leave)
	first.Wait()
	if v, err := y.Item(); v != 42 || err != nil {
		t.Errorf("the first goroutine's launch gave %v, %v", v, err)
	}
	if v, err := x.Float64s(); err != nil || !reflect.DeepEqual(v, []float64{3, 3, 3, 3}) {
		t.Errorf("what was refused changed %v, %v", v, err)
	}
}

// TestGoroutinesThatMeet lets two goroutines run on one device at once, with no barrier between
// them. Each sees right results until it sees ErrGoroutine; under the race detector nothing is
// raced.
func TestGoroutinesThatMeet(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		var both sync.WaitGroup
		var met atomic.Bool
		saw, start := make([]error, 2), time.Now()
		for g := range saw {
			both.Go(func() {
				defer met.Store(true)
				saw[g] = tensor.Try(func() {
					for i := 0; i < 100 || !met.Load() && time.Since(start) < time.Minute; i++ { // another may not have begun
						a := tensor.Full(d, float64(g+1), 64, 64)
						b := a.MatMul(a)
						v, err := b.Float32s()
						if want := float32(64 * (g + 1) * (g + 1)); err != nil || v[0] != want || v[4095] != want {
							t.Errorf("goroutine %d: got %v, want %v (err %v)", g, v[0], want, err)
							return
						}
						a.Free()
						b.Free()
					}
				})
			})
		}
		both.Wait()
		for g, err := range saw {
			if err != nil && !errors.Is(err, tensor.ErrGoroutine) {
				t.Errorf("goroutine %d: %v", g, err)
			}
		}
		if saw[0] == nil && saw[1] == nil {
			t.Error("two goroutines ran products on one device for a minute, and neither got an error")
		}
		if v, err := tensor.Full(d, 2, 3).Sum().Item(); v != 6 || err != nil {
			t.Errorf("the device afterwards: %v, %v", v, err)
		}
	})
}

// TestInterleavedScopes: a scope that another goroutine opens while one is open is refused, since
// tensors of the one would come into the other. A view that it makes is in no scope.
func TestInterleavedScopes(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Full(d, 3, 2, 2)
	opened, refused, done := make(chan struct{}), make(chan struct{}), make(chan error)
	var made *tensor.Tensor
	go func() {
		done <- tensor.Try(func() {
			tensor.Scope(d, func() {
				made = tensor.Full(d, 1, 3)
				close(opened)
				<-refused
			})
		})
	}()
	<-opened
	later := tensor.Try(func() { tensor.Scope(d, func() { t.Error("the later scope ran") }) })
	if !errors.Is(later, tensor.ErrGoroutine) || !strings.Contains(later.Error(), "tensor: Scope: ") {
		t.Errorf("the later scope: err = %v, want ErrGoroutine", later)
	}
	view := x.T()
	close(refused)
	if err := <-done; err != nil || !made.Freed() {
		t.Errorf("the earlier scope: %v; its tensor was freed: %v", err, made.Freed())
	}
	if view.Freed() {
		t.Error("the earlier scope freed a view of another goroutine")
	}
	if err := tensor.Try(func() { tensor.Scope(d, func() {}) }); err != nil {
		t.Errorf("a scope afterwards: %v", err)
	}
}

// TestOneAfterAnother: goroutines may share a device in turns.
func TestOneAfterAnother(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.Zeros(d, 8)
		for range 20 {
			done := make(chan error)
			go func() { done <- tensor.Try(func() { x.MapInPlace(fn.AddScalar, []float64{1}) }) }()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if v, err := x.Sum().Item(); v != 160 || err != nil {
			t.Errorf("%v, %v", v, err)
		}
	})
}
