package autograd_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// elsewhere runs f in another goroutine, waits for it, and returns its misuse.
func elsewhere(f func()) error {
	done := make(chan error)
	go func() { done <- tensor.Try(f) }()
	return <-done
}

// recorded fails the test unless operations on d record a graph.
func recorded(t *testing.T, d tensor.Device, when string) {
	t.Helper()
	p := param(d, 1, 2, 3)
	if loss := p.Square().Sum(); !loss.NeedsGrad() {
		t.Errorf("%s: operations record nothing", when)
	} else if err := loss.Backward(); err != nil {
		t.Errorf("%s: %v", when, err)
	} else if got := values(t, p.Grad()); !equal(got, []float64{2, 4, 6}) {
		t.Errorf("%s: the gradient is %v", when, got)
	}
}

// modes are the calls that set a mode of a device for the time of a function.
var modes = map[string]func(d tensor.Device, f func()){
	"NoGrad": autograd.NoGrad,
	"Scope":  tensor.Scope,
	"DetectAnomalies": func(d tensor.Device, f func()) {
		if err := autograd.DetectAnomalies(d, func() error { f(); return nil }); err != nil {
			panic(err)
		}
	},
	"Backward": func(d tensor.Device, f func()) { hooked(d, f, func(loss, p *node) error { return loss.Backward() }) },
	"Grad": func(d tensor.Device, f func()) {
		hooked(d, f, func(loss, p *node) error { _, err := autograd.Grad(loss, []*node{p}); return err })
	},
}

// hooked runs f in a hook of a walk back.
func hooked(d tensor.Device, f func(), walk func(loss, p *node) error) {
	p := param(d, 1, 2)
	y := p.Square()
	y.Hook(func(*node) *node { f(); return nil })
	if err := walk(y.Sum(), p); err != nil {
		panic(err)
	}
}

// TestModesOfGoroutines: what another goroutine does on a device in a mode is ErrGoroutine,
// whatever it is, and changes nothing; the mode ends with its function.
func TestModesOfGoroutines(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{1, 2})
		p := param(d, 1, 2)
		loss := p.Square().Sum()
		view := autograd.Const(x)
		others := map[string]func(){
			"Add":        func() { x.Add(x) },
			"Node.Add":   func() { p.Add(p) },
			"Reshape":    func() { view.Reshape(2, 1) },
			"New":        func() { devtest.New(d, []float64{1}) },
			"Float64s":   func() { _, _ = x.Float64s() },
			"Backward()": func() { _ = loss.Backward() },
			"Grad()":     func() { _, _ = autograd.Grad(loss, []*node{p}) },
		}
		for name, mode := range modes {
			others[name] = func() { mode(d, func() {}) }
		}
		for name, mode := range modes {
			calls := 0
			mode(d, func() {
				for what, f := range others {
					if err := elsewhere(f); !errors.Is(err, tensor.ErrGoroutine) {
						t.Errorf("%s by another goroutine within %s: err = %v, want ErrGoroutine", what, name, err)
					}
				}
				calls++
			})
			if calls != 1 {
				t.Errorf("%s ran its function %d times", name, calls)
			}
			recorded(t, d, "after "+name)
			if err := elsewhere(func() { recorded(t, d, "elsewhere after "+name) }); err != nil {
				t.Errorf("another goroutine after %s: %v", name, err)
			}
		}
		if err := loss.Backward(); err != nil || !equal(values(t, p.Grad()), []float64{2, 4}) {
			t.Errorf("what was refused changed the graph: %v, gradient %v", err, values(t, p.Grad()))
		}
	})
}

// TestModesThatOverlap: of two goroutines whose modes would overlap the second is refused, however
// the first ends.
func TestModesThatOverlap(t *testing.T) {
	d := devtest.CPU(t)
	for first, begin := range modes {
		for second, mode := range modes {
			for _, end := range []string{"return", "panic", "Goexit"} {
				began, refused := make(chan struct{}), make(chan struct{})
				var both sync.WaitGroup
				both.Go(func() {
					defer func() {
						if r := recover(); (r != nil) != (end == "panic") {
							t.Errorf("%s: recovered %v", first, r)
						}
					}()
					begin(d, func() {
						close(began)
						<-refused
						switch end {
						case "panic":
							panic(end)
						case "Goexit":
							runtime.Goexit()
						}
					})
				})
				<-began
				if err := tensor.Try(func() { mode(d, func() { t.Errorf("%s ran within %s of another goroutine", second, first) }) }); !errors.Is(err, tensor.ErrGoroutine) {
					t.Errorf("%s within %s of another goroutine: err = %v, want ErrGoroutine", second, first, err)
				}
				close(refused)
				both.Wait()
				recorded(t, d, fmt.Sprintf("%s within %s of another goroutine, which ended by %s", second, first, end))
			}
		}
	}
}

// TestNoGradInHandlers: a server recovers the panics of its handlers; the device continues as
// before.
func TestNoGradInHandlers(t *testing.T) {
	d := devtest.CPU(t)
	inside, leave := make(chan struct{}), make(chan struct{})
	errs := make(chan error, 2)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := tensor.Try(func() {
			autograd.NoGrad(d, func() {
				switch r.URL.Path {
				case "/slow":
					close(inside)
					<-leave
				case "/panics":
					panic(http.ErrAbortHandler) // which the server does not log
				}
			})
		})
		errs <- err
	}))
	server.Start()
	defer server.Close()
	get := func(path string) error {
		r, err := http.Get(server.URL + path)
		if err == nil {
			r.Body.Close()
		}
		return err
	}
	if get("/panics") == nil {
		t.Error("the handler did not panic")
	}
	recorded(t, d, "after a handler that panicked")
	slow := make(chan error)
	go func() { slow <- get("/slow") }()
	<-inside
	if err := get("/beside"); err != nil {
		t.Error(err)
	}
	if err := <-errs; !errors.Is(err, tensor.ErrGoroutine) {
		t.Errorf("a handler beside another: %v, want ErrGoroutine", err)
	}
	if get("/panics") == nil { // which it does of ErrGoroutine or its own
		<-errs
	}
	close(leave)
	if err := errors.Join(<-slow, <-errs); err != nil {
		t.Errorf("the handler that was first: %v", err)
	}
	recorded(t, d, "after the handlers")
}

// TestModesNest: one goroutine may nest them in any way; each ends with its function, and is then
// what it was before.
func TestModesNest(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		other := devtest.Open(t, "cpu", tensor.Options{})
		records := func(d tensor.Device) bool { return param(d, 1).Square().NeedsGrad() }
		autograd.NoGrad(d, func() {
			autograd.NoGrad(d, func() {})
			if records(d) || !records(other) {
				t.Error("after a NoGrad within one")
			}
			autograd.NoGrad(other, func() {
				if records(d) || records(other) {
					t.Error("within those of two devices")
				}
			})
			if records(d) || !records(other) {
				t.Error("after that of the second device")
			}
			func() {
				defer func() { _ = recover() }()
				tensor.Scope(d, func() { panic("out of an inner one") })
			}()
			if records(d) {
				t.Error("after a panic out of a Scope within")
			}
		})
		p := param(d, 1, 2, 3)
		y := p.Square()
		y.Hook(func(g *node) *node {
			autograd.NoGrad(d, func() { g.Add(g).Free() })
			q := param(d, 3)
			if err := q.Square().Sum().Backward(); err != nil || values(t, q.Grad())[0] != 6 {
				t.Errorf("a Backward in a hook: %v", err)
			}
			return g.Add(g)
		})
		grads, err := autograd.Grad(y.Sum(), []*node{p}, autograd.GradOptions{CreateGraph: true})
		if err != nil || !equal(values(t, grads[0].Value()), []float64{4, 8, 12}) || !grads[0].NeedsGrad() {
			t.Errorf("NoGrad in a hook: %v", err)
		}
		recorded(t, d, "in the end")
	})
}

// TestModeAtOperations lets modes of one goroutine begin and end while another computes, with no
// barrier between them: the other sees right gradients, or ErrGoroutine.
func TestModeAtOperations(t *testing.T) {
	d := devtest.CPU(t)
	quit := make(chan struct{})
	var quiet sync.WaitGroup
	quiet.Go(func() {
		for {
			select {
			case <-quit:
				return
			default:
				_ = tensor.Try(func() { autograd.NoGrad(d, func() { param(d, 1, 2).Square().Free() }) })
				runtime.Gosched()
			}
		}
	})
	for range 2000 {
		_ = tensor.Try(func() {
			p := param(d, 1, 2, 3)
			if err := p.Mul(p).Add(p).Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			if got := values(t, p.Grad()); !equal(got, []float64{3, 5, 7}) {
				t.Fatalf("the gradient is %v", got)
			}
		})
	}
	close(quit)
	quiet.Wait()
	recorded(t, d, "afterwards")
}
