package fused

import (
	"github.com/clgrad/clgrad/kernels"
	"sync"
	"sync/atomic"
)

// scratch holds the results that host kernels do not keep.
var scratch = map[kernels.DType]*sync.Pool{kernels.Float32: {}, kernels.Float64: {}, kernels.Float16: {},
	kernels.BFloat16: {}}

// epilogueHost runs the host kernel of the kernel, and that of the map: of parts of the result as soon as they
// are there, if the former tells of them, else of the whole behind it.
func epilogueHost[T kernels.Float](s *epilogueBuilder) func(kernels.HostArgs[T]) {
	float := kernels.Float32
	if _, double := any(T(0)).(float64); double {
		float = kernels.Float64
	}
	pool := sync.Pool{New: func() any { return newMapScratch[T](s.m) }}
	return func(c kernels.HostArgs[T]) {
		args, at := s.baseArgs(c.Args()), Of(s.base).Epilogue.Result
		n := s.elements(c.Args())
		if to, ok := s.inPlace(c.Args(), n); ok {
			args[at] = to
		} else if !s.Keep {
			typ := s.valueType(float)
			mem, _ := scratch[typ].Get().(*kernels.HostBuffer)
			if mem == nil || mem.Len() < n {
				mem = kernels.NewHostBuffer(typ, n)
			}
			defer scratch[typ].Put(mem)
			if Of(s.base).Epilogue.reads(args) {
				kernels.CopyHostBuffer(mem, 0, c.Args()[at].Buf.(*kernels.HostBuffer), c.Args()[at].Off, n)
			}
			args[at] = kernels.BufferArg(mem, 0, n)
		}
		own := s.mapArgs(c.Args(), args[at])
		if s.m.moves() || n == 0 {
			s.base.RunStored(float, args, c.Vectors(), nil)
			s.apply.RunStored(float, own, c.Vectors(), nil)
			return
		}
		var told atomic.Bool
		run := mapRun[T]{m: s.m}
		run.begin(c.With(own, false))
		s.base.RunStored(float, args, c.Vectors(), func(from, rows, n, apart int) {
			told.Store(true)
			s := pool.Get().(*mapScratch[T])
			defer pool.Put(s)
			run.ready(s)
			if apart == n { // one run
				rows, n = 1, rows*n
			}
			for r := range rows {
				run.elements(s, from+r*apart, n)
			}
		})
		if !told.Load() {
			s.apply.RunStored(float, own, c.Vectors(), nil)
		}
	}
}

// inPlace returns where the map's result lies, if the kernel's may lie there until the map is
// computed.
func (s *epilogueBuilder) inPlace(args []kernels.Arg, n int) (to kernels.Arg, ok bool) {
	y := len(s.m.uses)
	if s.Keep || s.m.tensors() != y+1 || s.m.types[y] != s.m.types[s.at] || Of(s.base).Epilogue.reads(args) {
		return kernels.Arg{}, false
	}
	var l mapLoops
	own := s.mapArgs(args, kernels.Arg{})
	l.set(s.m, own)
	if to = own[y]; !l.dense[y] || to.N < n {
		return kernels.Arg{}, false
	}
	for i, a := range args { // none of which may be of that memory
		own := i == Of(s.base).Epilogue.Result || i == len(s.base.Params)+y-1
		if !own && a.Buf == to.Buf && a.Off < to.Off+to.N && to.Off < a.Off+a.N {
			return kernels.Arg{}, false
		}
	}
	return kernels.BufferArg(to.Buf, to.Off, n), true
}

// elements computes n elements from one on, in the order of the result's indices.
func (run *mapRun[T]) elements(s *mapScratch[T], from, n int) {
	most := run.m.program.Block()
	for n > 0 {
		p := blockRange{r: from / run.inner, c: from % run.inner, rows: 1}
		p.cols = min(n, run.inner-p.c, most)
		if p.c == 0 && p.cols == run.inner {
			p.rows = min(n, most) / run.inner
		}
		run.block(s, p, true, true)
		from += p.rows * p.cols
		n -= p.rows * p.cols
	}
}
