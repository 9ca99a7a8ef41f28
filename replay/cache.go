package replay

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/internal/shapecache"
	"github.com/clgrad/clgrad/tensor"
)

// Cache is a step that is recorded once for each set of shapes and types that its inputs have. It belongs to one
// goroutine at a time, as its device does.
type Cache struct {
	d     tensor.Device
	step  func(inputs []*tensor.Tensor) ([]*tensor.Tensor, error)
	opt   CacheOptions
	made  shapecache.Cache[*shaped]
	freed bool
}

// CacheOptions says how a [Cache] goes about its work. The zero value is what it does when nothing is said.
type CacheOptions struct {
	Max    int     // recordings that are kept; 0: 8
	Record Options // of each recording
}

// CacheStats counts what a [Cache] did.
type CacheStats struct {
	Hits      int // calls of Run that found a recording
	Records   int // recordings that were made
	Evictions int // recordings that were freed for others
	Kept      int // recordings that there are
}

// shaped is the recording for some shapes, and what it reads.
type shaped struct {
	inputs []*tensor.Tensor
	rec    *Recording
}

// Free frees the recording and what it reads.
func (s *shaped) Free() {
	if s.rec != nil {
		s.rec.Free()
	}
	for _, t := range s.inputs {
		t.Free()
	}
}

// NewCache returns an empty cache of recordings of step on d. The inputs that step gets are copies, which the cache
// sets in each run: the same tensors for the same shapes. It panics with tensor.ErrValue if d or step is nil, or
// CacheOptions.Max is negative.
func NewCache(d tensor.Device, step func(inputs []*tensor.Tensor) ([]*tensor.Tensor, error), options CacheOptions) *Cache {
	switch {
	case d == nil || step == nil:
		panic(fault("NewCache", tensor.ErrValue, "the device or the step is nil"))
	case options.Max < 0:
		panic(fault("NewCache", tensor.ErrValue, "Max is %d: it is the number of recordings that are kept, or 0 for %d", options.Max, defaultMax))
	case options.Max == 0:
		options.Max = defaultMax
	}
	return &Cache{d: d, step: step, opt: options}
}

// defaultMax is CacheOptions.Max where that is 0.
const defaultMax = 8

// Run does the step for inputs and returns its outputs. The first call with inputs of some shapes and types records
// it, which does it twice, as [Record] says; later ones run the recording. What was not used for longest is freed where
// there are more recordings than Max.
//
// The outputs belong to the cache: the next Run with inputs of these shapes overwrites them, and they are freed with the
// recording. Copy what you want to keep. The errors are those of Record and [Recording.Run], and, with nothing done,
// tensor.ErrValue for an input that is nil, tensor.ErrFreed, tensor.ErrDevice for one of another device, and
// ErrReleased after Free.
func (c *Cache) Run(inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	if c.freed {
		return nil, fault("Run", ErrReleased, "")
	}
	var key strings.Builder
	for i, x := range inputs {
		switch {
		case x == nil:
			return nil, fault("Run", tensor.ErrValue, "input %d is nil", i)
		case x.Freed():
			return nil, fault("Run", tensor.ErrFreed, "input %d, of shape %v", i, x.Shape())
		case x.Device() != c.d:
			return nil, fault("Run", tensor.ErrDevice, "input %d, of shape %v, is on %s", i, x.Shape(), x.Device().Name())
		}
		fmt.Fprintf(&key, "%v%v;", x.Type(), x.Shape())
	}
	if s, found := c.made.Find(key.String()); found {
		for i, x := range s.inputs {
			x.SetInPlace(inputs[i])
		}
		return s.rec.Outputs(), s.rec.Run()
	}
	s := &shaped{}
	for _, x := range inputs {
		s.inputs = append(s.inputs, x.Copy().Retain())
	}
	var err error
	if s.rec, err = Record(c.d, func() ([]*tensor.Tensor, error) { return c.step(s.inputs) }, c.opt.Record); err != nil {
		s.Free()
		return nil, err
	}
	c.made.Add(key.String(), s, c.opt.Max)
	return s.rec.Outputs(), nil
}

// Stats returns what the cache did so far.
func (c *Cache) Stats() CacheStats {
	s := c.made.Stats()
	return CacheStats{Hits: s.Hits, Records: s.Made, Evictions: s.Evictions, Kept: len(c.made.All())}
}

// Recordings returns the recordings that there are, the one used last first. They belong to the cache.
func (c *Cache) Recordings() []*Recording {
	var list []*Recording
	for _, s := range c.made.All() {
		list = append(list, s.rec)
	}
	return list
}

// Free frees all recordings. Freeing again does nothing.
func (c *Cache) Free() {
	c.freed = true
	c.made.Free()
}
