package data

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// LoaderConfig says how a [Loader] makes batches.
type LoaderConfig struct {
	Batch    int    // rows of a batch; required
	Seed     uint64 // of the order of the rows, which is another one in each epoch
	InOrder  bool   // the rows come in the order of the arrays
	DropLast bool   // rows that do not fill a batch are left out of their epoch; otherwise the last batch is shorter

	// Transform makes the examples, as by reading files. Nil stands for the rows as they are.
	Transform *Transform

	// Into is filled with each batch: a tensor for each array, or each that Transform makes, of its type, contiguous, of Batch
	// rows. They may be the inputs of a recorded step, and those of several loaders. Such a step has
	// DropLast: of a shorter last batch the rows behind it are those of the one before. Nil stands
	// for tensors that the loader makes.
	Into []*tensor.Tensor
}

// Loader makes batches of the rows of arrays, in step with each other, on a device. It belongs to
// one goroutine at a time, as its device does.
type Loader struct {
	device  tensor.Device
	arrays  []Array
	makes   []Array // whose types and shapes of rows a batch has
	cfg     LoaderConfig
	tensors []*tensor.Tensor
	stages  [][]stage // one is gathered while another is waited for
	order   []int32   // of the rows in an epoch
	state   LoaderState
	running bool
	err     error // with which the last loop ended
	unread  bool  // nobody asked for that
}

// LoaderState says where a [Loader] is, and what its order follows from: with it and the same
// arrays, another loader resumes. It is for a checkpoint, and can be encoded as JSON.
type LoaderState struct {
	Rows  int // of the arrays
	Epoch int // epochs done
	Taken int // batches of the one at hand that the loop has had

	Batch             int    // of the LoaderConfig
	Seed              uint64 // of the LoaderConfig
	InOrder, DropLast bool   // of the LoaderConfig
}

// NewLoader returns a loader of arrays that have the same number of rows, at the start of its first
// epoch. It panics with tensor.ErrValue if there is no array, no batch of at least a row, or, with
// DropLast, no batch at all; with tensor.ErrShape if arrays differ in their rows, have more than
// 2³¹−1, or do not fit Into; with tensor.ErrType for Into of another type, and with
// tensor.ErrDevice for Into of another device.
func NewLoader(d tensor.Device, arrays []Array, cfg LoaderConfig) *Loader {
	const op = "NewLoader"
	if d == nil {
		panic(misuse(op, tensor.ErrValue, "the device is nil: look at the error that Open returned"))
	}
	if len(arrays) == 0 {
		panic(misuse(op, tensor.ErrValue, "there is no array"))
	}
	if cfg.Batch < 1 {
		panic(misuse(op, tensor.ErrValue, fmt.Sprintf("LoaderConfig.Batch is %d: a batch has 1 row or more", cfg.Batch)))
	}
	n := arrays[0].Len()
	for _, a := range arrays {
		if a.Len() != n || n > math.MaxInt32 {
			panic(misuse(op, tensor.ErrShape, "arrays have the same number of rows, 2147483647 at most", arrays[0].shape, a.shape))
		}
	}
	if cfg.DropLast && n < cfg.Batch {
		panic(misuse(op, tensor.ErrValue, fmt.Sprintf("%d rows fill no batch of %d, and DropLast leaves them out", n, cfg.Batch)))
	}
	l := &Loader{device: d, arrays: slices.Clone(arrays), cfg: cfg, order: make([]int32, n)}
	l.state = LoaderState{Rows: n, Batch: cfg.Batch, Seed: cfg.Seed, InOrder: cfg.InOrder, DropLast: cfg.DropLast}
	l.makes, l.stages = l.arrays, make([][]stage, 2)
	if t := cfg.Transform; t != nil {
		t.mustWork(op)
		l.makes, l.stages = slices.Clone(t.Makes), make([][]stage, t.stages(cfg.Batch))
	}
	l.tensors = cfg.Into
	if cfg.Into == nil {
		for _, a := range l.makes {
			l.tensors = append(l.tensors, tensor.EmptyOf(d, a.rows.typ(), a.batch(min(cfg.Batch, n))...).Retain())
		}
	} else {
		l.mustFit(op)
	}
	for i := range l.stages {
		for _, a := range l.makes {
			l.stages[i] = append(l.stages[i], a.rows.stage(min(cfg.Batch, n)*a.width()))
		}
	}
	return l
}

// batch returns the shape of n rows.
func (a Array) batch(n int) []int { return append([]int{n}, a.shape[1:]...) }

// mustFit panics unless each tensor of Into takes the batches of its array.
func (l *Loader) mustFit(op string) {
	if len(l.cfg.Into) != len(l.makes) {
		panic(misuse(op, tensor.ErrValue, fmt.Sprintf("LoaderConfig.Into has %d tensors for %d arrays", len(l.cfg.Into), len(l.makes))))
	}
	for i, t := range l.cfg.Into {
		a := l.makes[i]
		switch {
		case t == nil:
			panic(misuse(op, tensor.ErrValue, fmt.Sprintf("tensor %d of LoaderConfig.Into is nil", i)))
		case t.Freed():
			panic(misuse(op, tensor.ErrFreed, fmt.Sprintf("tensor %d of LoaderConfig.Into", i), t.Shape()))
		case t.Device() != l.device:
			panic(misuse(op, tensor.ErrDevice, fmt.Sprintf("tensor %d of LoaderConfig.Into is on %s, the loader on %s", i, t.Device().Name(), l.device.Name())))
		case !slices.Equal(t.Shape(), a.batch(l.cfg.Batch)) || !t.IsContiguous():
			panic(misuse(op, tensor.ErrShape, fmt.Sprintf("tensor %d of LoaderConfig.Into is contiguous, and of shape %v", i, a.batch(l.cfg.Batch)), t.Shape()))
		case t.Type() != a.rows.typ():
			panic(misuse(op, tensor.ErrType, fmt.Sprintf("tensor %d of LoaderConfig.Into is of type %v, the array of %v", i, t.Type(), a.rows.typ())))
		}
	}
}

// Batches returns the number of batches of an epoch.
func (l *Loader) Batches() int {
	n := l.state.Rows / l.cfg.Batch
	if !l.cfg.DropLast && l.state.Rows%l.cfg.Batch > 0 {
		n++
	}
	return n
}

// Epoch returns what is left of the epoch at hand, all of it unless a loop was left before its end
// or Restore came between, as batches: a tensor for each array, or each that the Transform makes, in
// their order, of shape [Batch, …]. The tensors are the loader's, or those of Into. Each batch
// overwrites the last one: what is to outlive it is copied. A shorter last batch is views of the
// first rows, which are freed when the loop continues.
//
// The order of the rows follows from the seed, the number of the epoch and the number of rows, and
// is the same on every machine. A failure of the device is sticky, as in all operations. Where a
// Transform fails, the loop ends before that batch: [Loader.Err] has the error, and the next loop
// tries that batch again. It panics with tensor.ErrValue for a loop inside a loop over the same
// loader, and with the error of a loop before that nobody has asked Err for. A panic of Transform.Do
// is one of the loop. Source of the shuffle: Durstenfeld, "Algorithm 235: Random permutation", CACM
// 7, 1964, with numbers of ChaCha8.
func (l *Loader) Epoch() iter.Seq[[]*tensor.Tensor] {
	return func(yield func(batch []*tensor.Tensor) bool) {
		if l.device == nil {
			panic(misuse("Epoch", tensor.ErrValue, "the Loader is its zero value: make one with NewLoader"))
		}
		if l.running {
			panic(misuse("Epoch", tensor.ErrValue, "a loop over this loader is under way: make a loader for each"))
		}
		if l.unread {
			panic(misuse("Epoch", tensor.ErrValue, "call Err after each loop: the last one ended with "+l.err.Error()))
		}
		l.running, l.err = true, nil
		ctx, stop := context.WithCancel(context.Background())
		full, empty := make(chan *filling, len(l.stages)), make(chan []stage, len(l.stages))
		for _, s := range l.stages {
			empty <- s
		}
		produce := l.gather
		if l.cfg.Transform != nil {
			produce = l.transform
		}
		var making sync.WaitGroup
		making.Go(func() { produce(ctx, full, empty, l.state.Epoch, l.state.Taken) })
		defer func() {
			stop()
			making.Wait() // the arrays are the caller's again
			l.running = false
		}()
		for f := range full {
			<-f.done
			switch {
			case f.panics != nil:
				panic(f.panics)
			case f.err != nil:
				l.err, l.unread = f.err, true
				return
			}
			if !l.hand(f.stages, empty, yield) {
				return
			}
		}
		l.state.Epoch, l.state.Taken = l.state.Epoch+1, 0
	}
}

// Err returns the error of LoaderConfig.Transform with which the last loop over [Loader.Epoch] ended,
// nil if there was none. It names the epoch and the row.
func (l *Loader) Err() error {
	l.unread = false
	return l.err
}

// rowsOf returns the rows of a batch.
func (l *Loader) rowsOf(batch int) []int32 {
	rows := l.order[batch*l.cfg.Batch:]
	return rows[:min(l.cfg.Batch, len(rows))]
}

// gather fills stages with the rows of an epoch's batches, from one on.
func (l *Loader) gather(ctx context.Context, full chan<- *filling, empty <-chan []stage, epoch, first int) {
	defer close(full)
	if first == l.Batches() {
		return
	}
	l.arrange(epoch)
	for b := first; b < l.Batches(); b++ {
		var s []stage
		select {
		case s = <-empty:
		case <-ctx.Done():
			return
		}
		for i, a := range l.arrays {
			s[i].gather(l.rowsOf(b), a.width())
		}
		select {
		case full <- complete(s):
		case <-ctx.Done():
			return
		}
	}
}

// hand uploads a batch and yields it. The stage is free again before that, so that the next batch
// but one is gathered while the loop works on this one.
func (l *Loader) hand(s []stage, empty chan<- []stage, yield func([]*tensor.Tensor) bool) bool {
	n := min(l.cfg.Batch, l.state.Rows-l.state.Taken*l.cfg.Batch)
	batch := slices.Clone(l.tensors)
	for i, t := range batch {
		if n < t.Shape()[0] {
			batch[i] = t.Slice(0, 0, n)
			defer batch[i].Free()
		}
		s[i].upload(batch[i])
	}
	empty <- s
	l.state.Taken++
	return yield(batch)
}

// arrange sets the order of the rows in an epoch.
func (l *Loader) arrange(epoch int) {
	for i := range l.order {
		l.order[i] = int32(i)
	}
	if l.cfg.InOrder {
		return
	}
	var key [32]byte
	copy(key[:], "clgrad order")
	binary.LittleEndian.PutUint64(key[16:], l.cfg.Seed)
	binary.LittleEndian.PutUint64(key[24:], uint64(epoch))
	words := rand.NewChaCha8(key)
	for i := len(l.order) - 1; i > 0; i-- {
		j := below(words, uint64(i+1))
		l.order[i], l.order[j] = l.order[j], l.order[i]
	}
}

// below returns a number uniform in [0, n): the upper half of a product, without those whose lower
// half is one of the 2⁶⁴ mod n that would come too often. Source: Lemire, "Fast Random Integer
// Generation in an Interval", ACM TOMACS 29, 2019.
func below(words *rand.ChaCha8, n uint64) uint64 {
	for {
		number, low := bits.Mul64(words.Uint64(), n)
		if low >= -n%n {
			return number
		}
	}
}

// State returns where the loader is. In a loop over [Loader.Epoch], the batch at hand counts as
// taken: call it when the work on that is done.
func (l *Loader) State() LoaderState { return l.state }

// Restore makes the loader resume where a state says. It returns an error, with nothing changed,
// for the state of a loader with another number of rows or settings than this one, or inside a loop
// over the loader.
func (l *Loader) Restore(s LoaderState) error {
	same := s
	same.Epoch, same.Taken = l.state.Epoch, l.state.Taken
	switch {
	case l.running:
		return fmt.Errorf("data: restore: a loop over this loader is under way")
	case same != l.state:
		return fmt.Errorf("data: restore: the state is of a loader with %s, this one has %s", s.settings(), l.state.settings())
	case s.Epoch < 0 || s.Taken < 0 || s.Taken > l.Batches():
		return fmt.Errorf("data: restore: the state is %d batches into epoch %d, and an epoch has %d", s.Taken, s.Epoch, l.Batches())
	}
	tensorapi.NotRecorded("Restore of a Loader")
	l.state = s
	return nil
}

// settings says in words what must be the same.
func (s LoaderState) settings() string {
	return fmt.Sprintf("%d rows, LoaderConfig{Batch: %d, Seed: %d, InOrder: %v, DropLast: %v}", s.Rows, s.Batch, s.Seed, s.InOrder, s.DropLast)
}

// Free releases the loader's tensors, but not those of Into.
func (l *Loader) Free() {
	if l.cfg.Into == nil {
		for _, t := range l.tensors {
			t.Free()
		}
	}
}
