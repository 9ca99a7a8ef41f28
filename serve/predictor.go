package serve

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"github.com/clgrad/clgrad/data"
)

// The errors of Predict, for errors.Is. Those of the model and of the context are other ones.
var (
	ErrFull   = errors.New("serve: the queue is full")
	ErrClosed = errors.New("serve: the predictor is closed")
	ErrInput  = errors.New("serve: bad input")
)

// Config says how a predictor makes batches. The zero value is usable.
type Config struct {
	// MaxBatch is how many rows are computed together at most; 0 is 32. The first axis of every
	// input and output counts rows, and a row of an output depends on no other row. With 1 each
	// request is computed alone, and the first axis has no meaning.
	MaxBatch int
	// Delay is how long a request waits for others where a worker is idle; 0: not at all. Requests
	// that arrive while all workers compute are batched whatever it is.
	Delay time.Duration
	// Queue is how many requests may wait; 0 is 256. Predict returns ErrFull to others.
	Queue int
	// Example is a request that every worker computes in batches of every size before New returns:
	// kernels are built then, and batches recorded. nil: the first requests wait for that.
	Example []data.Array
	// Name is the label "model" of the metrics; "": they have none.
	Name string
}

// Predictor answers requests with a model. All its methods may be called by several goroutines.
type Predictor struct {
	cfg     Config
	done    chan struct{} // closed when no worker is left
	metrics metrics

	mu      sync.Mutex
	changed sync.Cond // the queue, or closing
	queue   []*request
	rows    map[string]int // that wait, by the key of their requests
	workers int            // that run
	closing bool           // no requests are taken
	err     error          // the failure of the last device
}

// New returns a predictor that computes with workers, each on a device of its own. It is running:
// Close ends it.
func New(workers []Worker, cfg Config) (*Predictor, error) {
	if err := cfg.check(workers); err != nil {
		return nil, err
	}
	p := &Predictor{cfg: cfg, done: make(chan struct{}), rows: map[string]int{}, workers: len(workers)}
	if p.cfg.MaxBatch == 0 {
		p.cfg.MaxBatch = 32
	}
	if p.cfg.Queue == 0 {
		p.cfg.Queue = 256
	}
	p.changed.L = &p.mu
	p.metrics.init(p.cfg.MaxBatch)
	var example *request
	if cfg.Example != nil {
		var err error
		if example, err = p.request(context.Background(), cfg.Example); err != nil {
			return nil, fmt.Errorf("%w (Config.Example)", err)
		}
	}
	ready := make(chan error, len(workers))
	for _, w := range workers {
		go p.serve(w, example, ready)
	}
	var err error
	for range workers {
		err = errors.Join(err, <-ready)
	}
	if err != nil {
		_ = p.Close(context.Background()) // nobody has asked anything
		return nil, fmt.Errorf("serve: Config.Example: %w", err)
	}
	return p, nil
}

func (c Config) check(workers []Worker) error {
	if len(workers) == 0 {
		return errors.New("serve: New: there are no workers")
	}
	for i, w := range workers {
		if w.Device == nil || w.Run == nil {
			return fmt.Errorf("serve: New: worker %d has no Device or no Run", i)
		}
		for j, other := range workers[:i] {
			if w.Device == other.Device {
				return fmt.Errorf("serve: New: workers %d and %d have one device, which one goroutine may use: open it twice", j, i)
			}
		}
	}
	if c.MaxBatch < 0 || c.Queue < 0 || c.Delay < 0 {
		return fmt.Errorf("serve: New: MaxBatch %d, Queue %d and Delay %v: none may be negative", c.MaxBatch, c.Queue, c.Delay)
	}
	return nil
}

// Predict waits for the outputs of the model for inputs, which nobody may change meanwhile. Where
// Config.MaxBatch is not 1 the inputs have the same number of rows, and so have the outputs. An
// output of rank 0 has the shape [1].
//
// The errors are ErrInput for inputs that do not go together, with nothing computed; ErrFull;
// ErrClosed; that of ctx, as soon as it is done; a *PanicError; and what the model returns, such as a
// *tensor.Error. If a batch fails, its requests are computed one by one, so that one of them fails
// alone.
func (p *Predictor) Predict(ctx context.Context, inputs ...data.Array) (outputs []data.Array, err error) {
	start := time.Now()
	defer func() { p.metrics.request(time.Since(start), err) }()
	r, err := p.request(ctx, inputs)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := p.enqueue(r); err != nil {
		return nil, err
	}
	select {
	case a := <-r.answer:
		return a.outputs, a.err
	case <-ctx.Done():
		p.leave(r)
		return nil, ctx.Err()
	}
}

// request returns a request for inputs that go together.
func (p *Predictor) request(ctx context.Context, inputs []data.Array) (*request, error) {
	if len(inputs) == 0 {
		return nil, fmt.Errorf("%w: there are no inputs", ErrInput)
	}
	r := &request{ctx: ctx, inputs: inputs, rows: 1, arrived: time.Now(), answer: make(chan answer, 1)}
	for i, a := range inputs {
		if a.Shape() == nil {
			return nil, fmt.Errorf("%w: input %d is the zero value of data.Array", ErrInput, i)
		}
	}
	if p.cfg.MaxBatch == 1 {
		return r, nil
	}
	r.rows = inputs[0].Len()
	if r.rows < 1 || r.rows > p.cfg.MaxBatch {
		return nil, fmt.Errorf("%w: input 0 has %d rows, and a request has 1 to %d (Config.MaxBatch)", ErrInput, r.rows, p.cfg.MaxBatch)
	}
	for i, a := range inputs {
		if a.Len() != r.rows {
			return nil, fmt.Errorf("%w: input %d has %d rows, and input 0 has %d", ErrInput, i, a.Len(), r.rows)
		}
	}
	r.key = keyOf(inputs)
	return r, nil
}

// serve computes batches until there are no more, or the device fails.
func (p *Predictor) serve(w Worker, example *request, ready chan<- error) {
	err := p.warmUp(w, example)
	ready <- err
	for err == nil {
		batch := p.take()
		if batch == nil {
			break
		}
		p.compute(w, batch)
		err = w.Device.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers--; p.workers > 0 {
		return
	}
	if err != nil {
		p.err = fmt.Errorf("serve: no device is left: %w", err)
		p.refuse(p.err)
	}
	close(p.done)
}

// warmUp computes the example in batches of every size, twice: the second time they are recorded.
func (p *Predictor) warmUp(w Worker, example *request) error {
	if example == nil {
		return nil
	}
	batch := []*request{example}
	for rows := p.padded(example.rows); ; rows = p.padded(rows + 1) {
		for range 2 {
			outputs, err := w.compute(p.join(batch, rows))
			if err == nil {
				_, err = p.split(batch, outputs, rows)
			}
			if err != nil {
				return err
			}
		}
		if rows == p.cfg.MaxBatch {
			return nil
		}
	}
}

// Close takes no more requests, waits until those that were taken are answered, and ends the
// predictor's goroutines. When ctx is done before, it returns its error: requests that still wait get
// ErrClosed, and Done says when the workers have ended. Devices are the caller's to close.
func (p *Predictor) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closing = true
	p.changed.Broadcast()
	p.mu.Unlock()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		p.refuse(ErrClosed)
		return ctx.Err()
	}
}

// Done returns a channel that is closed when no worker is left: after Close, or after the failure of
// the last device. A device that fails is used no more, and the others answer on.
func (p *Predictor) Done() <-chan struct{} { return p.done }

// Err returns the failure of the last device, or nil.
func (p *Predictor) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// padded returns how many rows a batch has in memory, so that there are few sizes to record: the next
// power of two, or MaxBatch.
func (p *Predictor) padded(rows int) int {
	return min(1<<bits.Len(uint(rows-1)), p.cfg.MaxBatch)
}
