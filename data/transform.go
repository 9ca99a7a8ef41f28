package data

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/clgrad/clgrad/tensor"
)

// Transform makes the examples of a [Loader]'s batches: each from a row of the loader's arrays, by
// goroutines that run ahead of the loop.
type Transform struct {
	// Makes says what an example is: an array, of any number of rows, of the type and the shape of
	// rows of each tensor of a batch. data.New([]float32{}, 0, 3, 32, 32) stands for pictures.
	Makes []Array

	// Do writes an example. It is called by several goroutines at once, must not use a device, and may
	// keep nothing of its argument. The loop ends with its first error, in the order of the rows:
	// [Loader.Err] returns it.
	Do func(e Example) error

	Workers int // goroutines; 0: GOMAXPROCS
}

// Example is what Transform.Do makes, and of what.
type Example struct {
	Row   int     // its number in the arrays of the loader
	Epoch int     // that it is for
	In    []Array // the row of each array of the loader, of shape [1, …]: only to be read
	Out   []Array // what to write, of shape [1, …]: see [Elements]. It holds anything before

	// RNG is a stream of random numbers that follows from LoaderConfig.Seed, Epoch and Row alone: an
	// example is the same whichever worker makes it, and when.
	RNG *rand.Rand

	Context context.Context // done when the loop was left: nobody waits for the example then
}

// mustWork panics unless there is all that a transform needs.
func (t *Transform) mustWork(op string) {
	if t.Do == nil || len(t.Makes) == 0 {
		panic(misuse(op, tensor.ErrValue, "a Transform has Makes, of an array or more, and Do"))
	}
	if t.Workers < 0 {
		panic(misuse(op, tensor.ErrValue, fmt.Sprintf("Transform.Workers is %d: it is 0 or more", t.Workers)))
	}
	for _, a := range t.Makes {
		a.check(op)
	}
}

// workers returns how many goroutines make examples.
func (t *Transform) workers() int {
	if t.Workers > 0 {
		return t.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// stages returns how many batches are under way at once: enough for two examples a worker, and one
// that is complete.
func (t *Transform) stages(batch int) int { return max(2, 1+(2*t.workers()+batch-1)/batch) }

// filling is a batch that is being made.
type filling struct {
	stages []stage
	left   atomic.Int64  // examples
	done   chan struct{} // closed when there are none left, or the loop was left

	mu     sync.Mutex
	at     int   // the first example that failed
	err    error // why
	panics any   // what its Do panicked with
}

// newFilling returns a batch of n examples.
func newFilling(s []stage, n int) *filling {
	f := &filling{stages: s, at: n, done: make(chan struct{})}
	f.left.Store(int64(n))
	return f
}

// complete returns a batch that was made already.
func complete(s []stage) *filling {
	f := &filling{stages: s, done: make(chan struct{})}
	close(f.done)
	return f
}

// fail notes that an example failed.
func (f *filling) fail(at int, err error, panics any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at < f.at {
		f.at, f.err, f.panics = at, err, panics
	}
}

// task is an example of a batch.
type task struct {
	*filling
	at, row int
}

// transform makes the batches of an epoch, from one on, and hands them over in their order.
func (l *Loader) transform(ctx context.Context, full chan<- *filling, empty <-chan []stage, epoch, first int) {
	defer close(full)
	if first == l.Batches() {
		return
	}
	l.arrange(epoch)
	tasks := make(chan task)
	var working sync.WaitGroup
	defer working.Wait()
	defer close(tasks)
	var work func()
	work = func() {
		ended := true
		defer func() {
			if ended { // by runtime.Goexit: another takes its place
				working.Go(work)
			}
		}()
		for t := range tasks {
			l.example(ctx, t, epoch)
		}
		ended = false
	}
	for range l.cfg.Transform.workers() {
		working.Go(work)
	}
	for b := first; b < l.Batches(); b++ {
		var f *filling
		rows := l.rowsOf(b)
		select {
		case s := <-empty:
			f = newFilling(s, len(rows))
		case <-ctx.Done():
			return
		}
		select {
		case full <- f:
		case <-ctx.Done():
			return
		}
		for i, row := range rows {
			select {
			case tasks <- task{f, i, int(row)}:
			case <-ctx.Done():
				return
			}
		}
	}
}

// errExit is what a Do that ended its goroutine panics with.
var errExit = errors.New("data: Transform.Do called runtime.Goexit, which ends a test: it returns an error instead")

// example makes an example, and closes the batch after its last.
func (l *Loader) example(ctx context.Context, t task, epoch int) {
	returned := false
	defer func() {
		p := recover()
		if p == nil && !returned {
			p = errExit
		}
		if p != nil {
			t.fail(t.at, nil, p)
		}
		if t.left.Add(-1) == 0 {
			close(t.done)
		}
	}()
	e := Example{Row: t.row, Epoch: epoch, RNG: rand.New(l.stream("clgrad r", uint64(epoch), uint64(t.row))), Context: ctx}
	for _, a := range l.arrays {
		e.In = append(e.In, a.Slice(t.row, t.row+1))
	}
	for i, a := range l.makes {
		e.Out = append(e.Out, Array{a.batch(1), t.stages[i].row(t.at, a.width())})
	}
	if err := l.cfg.Transform.Do(e); err != nil {
		t.fail(t.at, fmt.Errorf("data: epoch %d, row %d: %w", epoch, t.row, err), nil)
	}
	returned = true
}

// stream returns random numbers of the loader's seed for two numbers.
func (l *Loader) stream(purpose string, a, b uint64) *rand.ChaCha8 {
	var key [32]byte
	copy(key[:8], purpose)
	binary.LittleEndian.PutUint64(key[8:], l.state.Seed)
	binary.LittleEndian.PutUint64(key[16:], a)
	binary.LittleEndian.PutUint64(key[24:], b)
	return rand.NewChaCha8(key)
}
