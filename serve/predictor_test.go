package serve

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// started returns a predictor that ends with the test.
func started(t *testing.T, cfg Config, workers ...Worker) *Predictor {
	t.Helper()
	p, err := New(workers, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// doubler is a model on the Go device that doubles its inputs, and notes the rows of each call.
type doubler struct {
	t       testing.TB
	device  tensor.Device
	begun   chan int      // gets the rows of a call, if it is not nil
	proceed chan struct{} // a call waits for it, if it is not nil
	fails   func(numbers []float32) error
}

func (m *doubler) worker() Worker {
	if m.device == nil {
		m.device = devtest.CPU(m.t)
	}
	return Worker{Device: m.device, Run: func(inputs ...*tensor.Tensor) (outputs []*tensor.Tensor, err error) {
		if m.begun != nil {
			m.begun <- inputs[0].Shape()[0]
		}
		if m.proceed != nil {
			<-m.proceed
		}
		for _, x := range inputs {
			numbers, err := x.Float32s()
			if err != nil {
				return nil, err
			}
			if m.fails != nil {
				if err := m.fails(numbers); err != nil {
					return nil, err
				}
			}
			outputs = append(outputs, x.MulScalar(2))
		}
		return outputs, nil
	}}
}

// row returns a request of a row.
func row(numbers ...float32) data.Array { return data.New(numbers, 1, len(numbers)) }

// doubles fails the test unless a predictor doubles numbers.
func doubles(t *testing.T, p *Predictor, numbers ...float32) {
	t.Helper()
	out, err := p.Predict(t.Context(), row(numbers...))
	if err != nil {
		t.Error(err)
		return
	}
	want := make([]float32, len(numbers))
	for i, v := range numbers {
		want[i] = 2 * v
	}
	if got := data.Elements[float32](out[0]); len(out) != 1 || !slices.Equal(got, want) || !slices.Equal(out[0].Shape(), []int{1, len(numbers)}) {
		t.Errorf("%v gives %v %v", numbers, out[0].Shape(), got)
	}
}

// waiting waits until so many requests are in the queue.
func waiting(p *Predictor, n int) {
	for p.snapshot().queue != n {
		time.Sleep(100 * time.Microsecond)
	}
}

// TestJoined: requests that wait while a batch is computed are the next batch, filled up to a power
// of two, and each gets its own rows.
func TestJoined(t *testing.T) {
	m := &doubler{t: t, begun: make(chan int), proceed: make(chan struct{})}
	p := started(t, Config{MaxBatch: 12}, m.worker())
	for _, c := range []struct{ requests, batch int }{{1, 1}, {2, 2}, {3, 4}, {5, 8}, {8, 8}, {9, 12}, {12, 12}} {
		var clients sync.WaitGroup
		clients.Go(func() { doubles(t, p, -1) })
		if n := <-m.begun; n != 1 {
			t.Fatalf("the first batch has %d rows", n)
		}
		for i := range c.requests {
			clients.Go(func() { doubles(t, p, float32(i)) })
		}
		waiting(p, c.requests)
		m.proceed <- struct{}{}
		if n := <-m.begun; n != c.batch {
			t.Errorf("%d requests are computed in a batch of %d", c.requests, n)
		}
		m.proceed <- struct{}{}
		clients.Wait()
	}
}

// TestRowsOfRequests: requests of several rows stay together, in the order in which they came.
func TestRowsOfRequests(t *testing.T) {
	m := &doubler{t: t, begun: make(chan int), proceed: make(chan struct{})}
	p := started(t, Config{MaxBatch: 8}, m.worker())
	var clients sync.WaitGroup
	send := func(rows int) {
		before := p.snapshot().queue
		defer func() { waiting(p, before+1) }()
		clients.Go(func() {
			x, y := make([]float32, rows), make([]float32, 2*rows)
			for i := range x {
				x[i], y[2*i] = float32(i+rows), float32(rows)
			}
			out, err := p.Predict(t.Context(), data.New(x), data.New(y, rows, 1, 2))
			if err != nil || len(out) != 2 || !slices.Equal(out[0].Shape(), []int{rows}) || !slices.Equal(out[1].Shape(), []int{rows, 1, 2}) {
				t.Errorf("%d rows: %v, err %v", rows, out, err)
				return
			}
			for i, v := range data.Elements[float32](out[0]) {
				if v != 2*x[i] || data.Elements[float32](out[1])[2*i] != 2*float32(rows) {
					t.Errorf("row %d of %d is another's", i, rows)
				}
			}
		})
	}
	clients.Go(func() { doubles(t, p, 1) })
	<-m.begun
	for _, rows := range []int{3, 4, 2, 8, 5} { // 3 and 4; 2; 8; 5
		send(rows)
	}
	for _, want := range []int{8, 2, 8, 8} {
		m.proceed <- struct{}{}
		if n := <-m.begun; n != want {
			t.Errorf("a batch of %d, want %d", n, want)
		}
	}
	m.proceed <- struct{}{}
	clients.Wait()
}

// TestShapes: requests whose rows have other shapes or types are in other batches, each in its turn.
func TestShapes(t *testing.T) {
	m := &doubler{t: t, begun: make(chan int), proceed: make(chan struct{})}
	p := started(t, Config{}, m.worker())
	var clients sync.WaitGroup
	clients.Go(func() { doubles(t, p, 1) })
	<-m.begun
	for i := range 6 {
		clients.Go(func() { doubles(t, p, make([]float32, 1+i%3)...) })
		waiting(p, i+1)
	}
	for range 3 {
		m.proceed <- struct{}{}
		if n := <-m.begun; n != 2 {
			t.Errorf("a batch of %d", n)
		}
	}
	m.proceed <- struct{}{}
	clients.Wait()
}

// TestAlone: with MaxBatch 1 the first axis has no meaning.
func TestAlone(t *testing.T) {
	d := devtest.CPU(t)
	p := started(t, Config{MaxBatch: 1}, Worker{Device: d, Run: func(in ...*tensor.Tensor) ([]*tensor.Tensor, error) {
		return []*tensor.Tensor{in[0].Sum(), in[1].Copy()}, nil
	}})
	out, err := p.Predict(t.Context(), data.New([]float32{1, 2, 3}), data.New([]int64{}, 0, 2))
	if err != nil {
		t.Fatal(err)
	}
	if s := data.Elements[float32](out[0]); s[0] != 6 || !slices.Equal(out[0].Shape(), []int{1}) || !slices.Equal(out[1].Shape(), []int{0, 2}) {
		t.Errorf("%v %v %v", s, out[0].Shape(), out[1].Shape())
	}
}

// TestDelay: a request waits for others no longer than Delay, and not at all when a batch is full.
func TestDelay(t *testing.T) {
	d := devtest.CPU(t)
	synctest.Test(t, func(t *testing.T) {
		m := &doubler{t: t, device: d, begun: make(chan int, 10)}
		p, err := New([]Worker{m.worker()}, Config{MaxBatch: 4, Delay: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		var clients sync.WaitGroup
		send := func(after time.Duration, numbers ...float32) {
			clients.Go(func() {
				time.Sleep(after)
				doubles(t, p, numbers...)
			})
		}
		start := time.Now()
		send(0, 1)
		send(time.Second-1, 2)
		send(time.Second+1, 3) // for itself
		clients.Wait()
		if first, second := <-m.begun, <-m.begun; first != 2 || second != 1 || time.Since(start) != 2*time.Second+1 {
			t.Errorf("batches of %d and %d in %v", first, second, time.Since(start))
		}
		start = time.Now()
		send(0, 1, 2) // of another shape, which waits for others
		for i := range 4 {
			send(time.Millisecond*time.Duration(i), 1)
		}
		time.Sleep(3 * time.Millisecond)
		synctest.Wait()
		if len(m.begun) != 1 || <-m.begun != 4 {
			t.Error("a full batch waits")
		}
		clients.Wait()
		if <-m.begun != 1 || time.Since(start) != time.Second {
			t.Errorf("the other took %v", time.Since(start))
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestFull: with as many requests as may wait, another is refused, and those that wait are answered.
func TestFull(t *testing.T) {
	m := &doubler{t: t, begun: make(chan int), proceed: make(chan struct{})}
	p := started(t, Config{Queue: 2}, m.worker())
	var clients sync.WaitGroup
	clients.Go(func() { doubles(t, p, 0) })
	<-m.begun
	for i := range 2 {
		clients.Go(func() { doubles(t, p, float32(i)) })
	}
	waiting(p, 2)
	if _, err := p.Predict(t.Context(), row(1)); !errors.Is(err, ErrFull) {
		t.Errorf("err %v", err)
	}
	m.proceed <- struct{}{}
	<-m.begun
	clients.Go(func() { doubles(t, p, 3) }) // there is room again
	waiting(p, 1)
	m.proceed <- struct{}{}
	<-m.begun
	m.proceed <- struct{}{}
	clients.Wait()
}

// TestCancelled: a request whose context ends returns at once. One that waits leaves the queue, one
// that is computed leaves its batch to the others.
func TestCancelled(t *testing.T) {
	m := &doubler{t: t, begun: make(chan int), proceed: make(chan struct{})}
	p := started(t, Config{Queue: 3}, m.worker())
	predict := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := p.Predict(ctx, row(1))
			done <- err
		}()
		return done
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := <-predict(over); !errors.Is(err, context.Canceled) {
		t.Errorf("before: err %v", err)
	}
	computed, leave := context.WithCancel(t.Context())
	first := predict(computed)
	<-m.begun
	stays := predict(t.Context())
	waiting(p, 1)
	waits, give := context.WithCancel(t.Context())
	second, third := predict(waits), predict(waits)
	waiting(p, 3)
	give()
	if a, b := <-second, <-third; !errors.Is(a, context.Canceled) || !errors.Is(b, context.Canceled) {
		t.Errorf("in the queue: err %v and %v", a, b)
	}
	if n := p.snapshot().queue; n != 1 {
		t.Errorf("%d requests wait", n)
	}
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("in a batch: err %v", err)
	}
	m.proceed <- struct{}{}
	if n := <-m.begun; n != 1 {
		t.Errorf("a batch of %d", n)
	}
	m.proceed <- struct{}{}
	if err := <-stays; err != nil {
		t.Error(err)
	}
	if n := p.snapshot().requests["cancelled"]; n != 4 {
		t.Errorf("%d requests count as cancelled", n)
	}
}

// TestExpired: a request whose time is over when its batch begins is not computed, even if its caller
// has not run yet.
func TestExpired(t *testing.T) {
	p := &Predictor{cfg: Config{MaxBatch: 4, Queue: 4}, rows: map[string]int{}}
	p.changed.L = &p.mu
	over, cancel := context.WithCancel(t.Context())
	for _, ctx := range []context.Context{over, t.Context(), over} {
		r, err := p.request(ctx, []data.Array{row(1)})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.enqueue(r); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if batch := p.take(); len(batch) != 1 || batch[0].ctx != t.Context() || len(p.rows) != 0 {
		t.Errorf("a batch of %d, %v", len(batch), p.rows)
	}
}

// stopping reports whether Close was called.
func (p *Predictor) stopping() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closing
}

// TestStop: what was taken before Close is answered, and nothing is taken after it.
func TestStop(t *testing.T) {
	m := &doubler{t: t, begun: make(chan int, 100), proceed: make(chan struct{})}
	p := started(t, Config{MaxBatch: 2, Delay: time.Hour}, m.worker())
	var clients sync.WaitGroup
	for i := range 7 {
		clients.Go(func() { doubles(t, p, float32(i)) })
	}
	for p.snapshot().queue != 5 || len(m.begun) != 1 {
		time.Sleep(time.Millisecond)
	}
	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- p.Close(context.Background()) }()
	}
	for !p.stopping() {
		time.Sleep(time.Millisecond)
	}
	if _, err := p.Predict(t.Context(), row(1, 2)); !errors.Is(err, ErrClosed) {
		t.Fatalf("err %v", err)
	}
	select {
	case err := <-closed:
		t.Errorf("closed while requests wait, err %v", err)
	case <-p.Done():
		t.Error("done while requests wait")
	default:
	}
	close(m.proceed)
	clients.Wait()
	if a, b := <-closed, <-closed; a != nil || b != nil || p.Err() != nil {
		t.Errorf("closed with %v and %v, err %v", a, b, p.Err())
	}
	<-p.Done()
}

// TestStopInTime: a Close whose context ends answers what waits with ErrClosed.
func TestStopInTime(t *testing.T) {
	m := &doubler{t: t, begun: make(chan int), proceed: make(chan struct{})}
	p := started(t, Config{}, m.worker())
	var clients sync.WaitGroup
	clients.Go(func() { doubles(t, p, 1) })
	<-m.begun
	clients.Go(func() {
		if _, err := p.Predict(t.Context(), row(1)); !errors.Is(err, ErrClosed) {
			t.Errorf("err %v", err)
		}
	})
	waiting(p, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err %v", err)
	}
	close(m.proceed)
	clients.Wait()
}

// TestFailsAlone: of a batch with a request that the model cannot compute the others are answered.
func TestFailsAlone(t *testing.T) {
	bad := errors.New("no 13")
	for name, c := range map[string]struct {
		fail func() error
		is   func(err error) bool
	}{
		"error":  {func() error { return bad }, func(err error) bool { return errors.Is(err, bad) }},
		"misuse": {func() error { panic(&tensor.Error{Op: "Gather", Kind: tensor.ErrIndex}) }, func(err error) bool { return errors.Is(err, tensor.ErrIndex) }},
		"panic": {func() error { panic("no 13") }, func(err error) bool {
			var p *PanicError
			return errors.As(err, &p) && p.Value == "no 13" && strings.Contains(string(p.Stack), "TestFailsAlone") &&
				err.Error() == "serve: the model panicked: no 13"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &doubler{t: t, begun: make(chan int, 100), proceed: make(chan struct{}), fails: func(numbers []float32) error {
				if slices.Contains(numbers, 13) {
					return c.fail()
				}
				return nil
			}}
			p := started(t, Config{}, m.worker())
			var clients sync.WaitGroup
			for i := range 20 {
				clients.Go(func() {
					if i != 13 {
						doubles(t, p, float32(i))
					} else if _, err := p.Predict(t.Context(), row(13)); !c.is(err) {
						t.Errorf("err %v", err)
					}
				})
				if i == 0 {
					<-m.begun // the others are a batch
				}
			}
			waiting(p, 19)
			close(m.proceed)
			clients.Wait()
			doubles(t, p, 1)
			if n := p.snapshot().requests; n["error"] != 1 || n["ok"] != 20 {
				t.Errorf("requests: %v", n)
			}
		})
	}
}

// TestDevices: two devices compute at the same time, and each request is computed by one.
func TestDevices(t *testing.T) {
	begun, proceed := make(chan int), make(chan struct{})
	a, b := &doubler{t: t, begun: begun, proceed: proceed}, &doubler{t: t, begun: begun, proceed: proceed}
	p := started(t, Config{MaxBatch: 1}, a.worker(), b.worker())
	var clients sync.WaitGroup
	for i := range 10 {
		clients.Go(func() { doubles(t, p, float32(i)) })
	}
	for range 5 {
		<-begun
		<-begun // while the first has not ended
		proceed <- struct{}{}
		proceed <- struct{}{}
	}
	clients.Wait()
	if s := p.snapshot(); s.workers != 2 || s.requests["ok"] != 10 || s.batchRows.counts[0] != 10 {
		t.Errorf("%d workers, requests %v, batches %v", s.workers, s.requests, s.batchRows.counts)
	}
}

// TestDeviceFails: a device that fails is used no more. With the last one the predictor ends, and
// says why.
func TestDeviceFails(t *testing.T) {
	var workers []Worker
	for range 2 {
		d, err := tensor.Open("cpu")
		if err != nil {
			t.Fatal(err)
		}
		workers = append(workers, Worker{Device: d, Run: func(in ...*tensor.Tensor) ([]*tensor.Tensor, error) {
			if in[0].Shape()[1] == 2 {
				d.Close() // what it computes is lost
			}
			return []*tensor.Tensor{in[0].MulScalar(2)}, nil
		}})
	}
	p := started(t, Config{MaxBatch: 1}, workers...)
	for left := 1; left >= 0; left-- {
		doubles(t, p, 1)
		if _, err := p.Predict(t.Context(), row(1, 2)); err == nil {
			t.Error("a device that failed has answered")
		}
		for p.snapshot().workers != left {
			time.Sleep(time.Millisecond)
		}
	}
	<-p.Done()
	if err := p.Err(); !errors.Is(err, tensor.ErrClosed) || !strings.Contains(err.Error(), "no device is left") {
		t.Errorf("err %v", err)
	}
	if _, err := p.Predict(t.Context(), row(1)); err == nil || err != p.Err() {
		t.Errorf("err %v", err)
	}
}

// TestExample: New computes the example in batches of every size twice, and returns what is wrong
// with it.
func TestExample(t *testing.T) {
	m := &doubler{t: t, begun: make(chan int, 100)}
	p := started(t, Config{MaxBatch: 6, Example: []data.Array{row(1)}}, m.worker())
	doubles(t, p, 3)
	close(m.begun)
	var got []int
	for n := range m.begun {
		got = append(got, n)
	}
	if !slices.Equal(got, []int{1, 1, 2, 2, 4, 4, 6, 6, 1}) {
		t.Errorf("batches of %v", got)
	}
	if n := p.snapshot().batchRows.counts; n[0] != 1 || n[1] != 0 {
		t.Errorf("examples count as batches: %v", n)
	}

	before := runtime.NumGoroutine()
	bad := &doubler{t: t, fails: func([]float32) error { return errors.New("wrong") }}
	if _, err := New([]Worker{bad.worker()}, Config{Example: []data.Array{row(1)}}); err == nil || !strings.Contains(err.Error(), "Config.Example: wrong") {
		t.Errorf("err %v", err)
	}
	if _, err := New([]Worker{bad.worker()}, Config{Example: []data.Array{}}); !errors.Is(err, ErrInput) {
		t.Errorf("err %v", err)
	}
	devtest.AtMostGoroutines(t, before)
}

// TestGoroutines: after Close none is left, whatever became of the requests.
func TestGoroutines(t *testing.T) {
	a, b := (&doubler{t: t}).worker(), (&doubler{t: t}).worker()
	before := runtime.NumGoroutine()
	p, err := New([]Worker{a, b}, Config{MaxBatch: 4, Queue: 8, Delay: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	var answered atomic.Int64
	for i := range 40 {
		clients.Go(func() {
			for k := range 50 {
				patience := time.Duration(k) * 50 * time.Microsecond
				if k%5 == 4 { // longer than a busy machine takes
					patience = time.Minute
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				x := float32(i*50 + k)
				out, err := p.Predict(ctx, row(x, float32(k%3)))
				cancel()
				switch {
				case err == nil && data.Elements[float32](out[0])[0] == 2*x:
					answered.Add(1)
				case errors.Is(err, ErrFull), errors.Is(err, ErrClosed), errors.Is(err, context.DeadlineExceeded):
				default:
					t.Errorf("%v, err %v", out, err)
				}
			}
		})
	}
	for answered.Load() < 50 {
		time.Sleep(time.Millisecond)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	clients.Wait()
	devtest.AtMostGoroutines(t, before)
	s, sum := p.snapshot(), uint64(0)
	for _, n := range s.requests {
		sum += n
	}
	if sum != 2000 || s.queue != 0 || s.workers != 0 || len(p.rows) != 0 {
		t.Errorf("%d requests %v, %d wait, %d workers, rows %v", sum, s.requests, s.queue, s.workers, p.rows)
	}
}

// TestBadInput: inputs that do not go together are refused before they wait.
func TestBadInput(t *testing.T) {
	p := started(t, Config{MaxBatch: 3}, (&doubler{t: t}).worker())
	for says, inputs := range map[string][]data.Array{
		"there are no inputs":                   nil,
		"input 1 is the zero value":             {row(1), {}},
		"input 0 has 4 rows, and a request":     {data.New(make([]float32, 4))},
		"input 0 has 0 rows":                    {data.New([]float32{}, 0, 3)},
		"input 1 has 2 rows, and input 0 has 1": {row(1), data.New([]float32{1, 2})},
	} {
		if _, err := p.Predict(t.Context(), inputs...); !errors.Is(err, ErrInput) || !strings.Contains(fmt.Sprint(err), says) {
			t.Errorf("%s: err %v", says, err)
		}
	}
	if n := p.snapshot().requests["input"]; n != 5 {
		t.Errorf("%d requests count", n)
	}
}

// TestBadOutputs: outputs without the rows of the batch, and those that are nil, are errors.
func TestBadOutputs(t *testing.T) {
	d := devtest.CPU(t)
	for says, run := range map[string]func(in ...*tensor.Tensor) ([]*tensor.Tensor, error){
		"output 0 of the model has shape [1] for a batch of 2 rows": func(in ...*tensor.Tensor) ([]*tensor.Tensor, error) { return []*tensor.Tensor{in[0].Sum()}, nil },
		"output 1 of the model is nil":                              func(in ...*tensor.Tensor) ([]*tensor.Tensor, error) { return []*tensor.Tensor{in[0].Copy(), nil}, nil },
	} {
		p := started(t, Config{}, Worker{Device: d, Run: run})
		if _, err := p.Predict(t.Context(), data.New([]float32{1, 2})); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: err %v", says, err)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestConfig: settings and workers that make no predictor.
func TestConfig(t *testing.T) {
	w := (&doubler{t: t}).worker()
	for says, c := range map[string]struct {
		workers []Worker
		cfg     Config
	}{
		"there are no workers":             {nil, Config{}},
		"worker 1 has no Device or no Run": {[]Worker{w, {Device: devtest.CPU(t)}}, Config{}},
		"workers 0 and 1 have one device":  {[]Worker{w, w}, Config{}},
		"MaxBatch -1":                      {[]Worker{w}, Config{MaxBatch: -1}},
		"Queue -1":                         {[]Worker{w}, Config{Queue: -1}},
		"Delay -1ns: none may be negative": {[]Worker{w}, Config{Delay: -1}},
		"input 0 has 3 rows":               {[]Worker{w}, Config{MaxBatch: 2, Example: []data.Array{data.New(make([]float32, 3))}}},
	} {
		if _, err := New(c.workers, c.cfg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: err %v", says, err)
		}
	}
}
