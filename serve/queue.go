package serve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/data"
)

// request is inputs whose sender waits for an answer.
type request struct {
	ctx     context.Context // is done when nobody waits any more
	inputs  []data.Array
	rows    int
	key     string // of requests that may be in one batch
	arrived time.Time
	answer  chan answer // takes one without a reader
}

type answer struct {
	outputs []data.Array
	err     error
}

// keyOf returns the types of inputs and the shapes of their rows.
func keyOf(inputs []data.Array) string {
	var b strings.Builder
	for _, a := range inputs {
		fmt.Fprintf(&b, "%v%v", a.Type(), a.Shape()[1:])
	}
	return b.String()
}

// enqueue puts a request into the queue.
func (p *Predictor) enqueue(r *request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.err != nil:
		return p.err
	case p.closing:
		return ErrClosed
	case len(p.queue) >= p.cfg.Queue:
		return fmt.Errorf("%w: %d requests wait", ErrFull, len(p.queue))
	}
	p.queue = append(p.queue, r)
	p.rows[r.key] += r.rows
	if len(p.queue) == 1 || p.rows[r.key] >= p.cfg.MaxBatch {
		p.changed.Signal()
	}
	return nil
}

// leave takes a request out of the queue, if it is there.
func (p *Predictor) leave(r *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.queue, r); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
		p.counted(r)
	}
}

// counted takes the rows of a request that has left the queue off those that wait.
func (p *Predictor) counted(r *request) {
	if p.rows[r.key] -= r.rows; p.rows[r.key] == 0 {
		delete(p.rows, r.key)
	}
}

// refuse answers all requests of the queue with an error.
func (p *Predictor) refuse(err error) {
	for _, r := range p.queue {
		r.answer <- answer{err: err}
	}
	p.queue = nil
	clear(p.rows)
}

// take waits for a batch, which it takes out of the queue: the oldest request that need not wait,
// and those behind it that have its key, while they fit. It returns nil if there will be none.
func (p *Predictor) take() []*request {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		p.queue = slices.DeleteFunc(p.queue, func(r *request) bool {
			gone := r.ctx.Err() != nil
			if gone {
				p.counted(r)
			}
			return gone
		})
		if len(p.queue) == 0 {
			if p.closing {
				return nil
			}
			p.changed.Wait()
			continue
		}
		patience := p.cfg.Delay - time.Since(p.queue[0].arrived)
		first := 0
		if patience > 0 && !p.closing {
			first = slices.IndexFunc(p.queue, func(r *request) bool { return p.rows[r.key] >= p.cfg.MaxBatch })
		}
		if first >= 0 {
			return p.batch(p.queue[first])
		}
		timer := time.AfterFunc(patience, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.changed.Broadcast()
		})
		p.changed.Wait()
		timer.Stop()
	}
}

// batch takes a request out of the queue with those that go with it.
func (p *Predictor) batch(first *request) (batch []*request) {
	rows, full := 0, false
	p.queue = slices.DeleteFunc(p.queue, func(r *request) bool {
		full = full || r.key == first.key && rows+r.rows > p.cfg.MaxBatch
		if r.key != first.key || full {
			return false
		}
		rows += r.rows
		batch = append(batch, r)
		p.counted(r)
		return true
	})
	if len(p.queue) > 0 {
		p.changed.Signal()
	}
	return batch
}
