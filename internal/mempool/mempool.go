// Package mempool keeps freed device buffers for reuse, in size classes, and counts what is live. A
// buffer that is lost comes back when the garbage collector finds it.
package mempool

import (
	"errors"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
)

// Pool hands out buffers of type B in blocks. It is safe for concurrent use: lost blocks come back
// from goroutines of their own.
type Pool[B any] struct {
	// Limit is the most bytes that the pool takes from the allocator, 0 for any. It is set before
	// the first Get.
	Limit int64

	alloc   func(nbytes int) (B, error)
	release func(B)

	mu         sync.Mutex
	closed     bool
	free       [2 * bits.UintSize][]*Block[B] // by the number of the size class
	all        map[uint64]B                   // what the allocator gave and has not got back
	fresh      uint64                         // how often it gave
	live       atomic.Int64                   // written under mu
	held, peak int64
}

// Block is a buffer that the pool handed out, to whoever holds the Block: when nobody does, the
// buffer is the pool's again. A Block is made once for a buffer and used by all its holders in
// turn, because asking the garbage collector to watch an object takes a quarter of a microsecond.
type Block[B any] struct {
	Memory B

	class int
	id    uint64 // in all
	watch runtime.Cleanup
}

// lost is what is left of a block that nobody holds.
type lost[B any] struct {
	memory B
	class  int
	id     uint64
}

// What Get returns instead of passing the limit, and after Close.
var (
	ErrLimit  = errors.New("mempool: the limit is reached")
	ErrClosed = errors.New("mempool: the pool is closed")
)

// New returns an empty pool over a raw allocator. release gives a buffer back to the device.
func New[B any](alloc func(nbytes int) (B, error), release func(B)) *Pool[B] {
	return &Pool[B]{alloc: alloc, release: release, all: map[uint64]B{}}
}

// smallest is the least size class in bytes: the base address alignment of NVIDIA devices (512 bits
// to 4096 bits on others), below which a smaller buffer saves nothing.
const smallest = 512

// Class returns the size class of nbytes: the least of 2ⁿ and 1.5·2ⁿ that holds it. At most a third
// of a buffer is wasted.
func Class(nbytes int) int {
	if nbytes <= smallest {
		return smallest
	}
	power := 1 << bits.Len(uint(nbytes-1))
	if mid := power / 4 * 3; nbytes <= mid {
		return mid
	}
	return power
}

// number returns that of a size class: 2ⁿ and 1.5·2ⁿ have one and two bits set.
func number(class int) int { return 2*bits.Len(uint(class)) - 3 + bits.OnesCount(uint(class)) }

// Get returns a block of at least nbytes. The contents are undefined. When the allocator refuses,
// or the limit would be passed, the buffers held for reuse are released and it is asked once more.
func (p *Pool[B]) Get(nbytes int) (*Block[B], error) {
	class := Class(nbytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if free := &p.free[number(class)]; len(*free) > 0 {
		last := len(*free) - 1
		b := (*free)[last]
		(*free)[last] = nil // or it could not get lost
		*free = (*free)[:last]
		p.held -= int64(class)
		p.count(class)
		return b, nil
	}
	memory, err := p.ask(class)
	if err != nil {
		p.drain()
		if memory, err = p.ask(class); err != nil {
			return nil, err
		}
	}
	p.count(class)
	p.fresh++
	p.all[p.fresh] = memory
	return p.block(lost[B]{memory, class, p.fresh}), nil
}

// ask asks the allocator for a buffer.
func (p *Pool[B]) ask(class int) (B, error) {
	if p.Limit > 0 && p.live.Load()+p.held+int64(class) > p.Limit {
		var none B
		return none, ErrLimit
	}
	return p.alloc(class)
}

func (p *Pool[B]) block(l lost[B]) *Block[B] {
	b := &Block[B]{Memory: l.memory, class: l.class, id: l.id}
	b.watch = runtime.AddCleanup(b, func(l lost[B]) { p.Put(p.block(l)) }, l)
	return b
}

func (p *Pool[B]) count(class int) {
	p.peak = max(p.peak, p.live.Add(int64(class)))
}

// Put keeps b for the next Get of its class, unless the pool was closed, which released it. b must
// not be used again.
func (p *Pool[B]) Put(b *Block[B]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		b.watch.Stop()
		return
	}
	p.live.Add(-int64(b.class))
	free := &p.free[number(b.class)]
	*free = append(*free, b)
	p.held += int64(b.class)
}

// Close releases every buffer, those that are handed out too: a device that is closed has no use
// for them, and some drivers end with the last of them, which must not wait for the garbage
// collector and run on its thread.
func (p *Pool[B]) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.drain()
	for _, memory := range p.all {
		p.release(memory)
	}
	clear(p.all)
	p.live.Store(0)
}

// drain releases every buffer held for reuse.
func (p *Pool[B]) drain() {
	for _, list := range p.free {
		for _, b := range list {
			b.watch.Stop()
			p.release(b.Memory)
			delete(p.all, b.id)
		}
	}
	clear(p.free[:])
	p.held = 0
}

// Live returns the bytes handed out.
func (p *Pool[B]) Live() int64 { return p.live.Load() }

// Bytes returns what is handed out, what is held for reuse, and the most that was ever handed out.
func (p *Pool[B]) Bytes() (live, held, peak int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live.Load(), p.held, p.peak
}
