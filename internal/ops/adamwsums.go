package ops

import (
	"cmp"
	"slices"

	"github.com/clgrad/clgrad/internal/gradsums"
	"github.com/clgrad/clgrad/kernels"
)

// AdamWSums is AdamW of a gradient that is added up from shares where it is read, for GPUs: P, G,
// PART, M, V, BLOCKS, decay, b1, one_b1, b2, one_b2, step, root, eps. BLOCKS says of each
// work-group what it does: see [sumBlocks].
var AdamWSums = &kernels.Kernel{Name: "k_adamw_sums", File: "adamw_sums.cl", Defines: "-DFUNCTIONS",
	Params: append([]kernels.Param{inOut("P"), in("G"), in("PART"), inOut("M"), inOut("V"), inInts("BLOCKS")}, adamwScalars...),
	Grid: func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
		return kernels.Grid{Dims: 1, Global: [3]int{a[5].N / partialsInts * sumGroup}, Local: [3]int{sumGroup}}
	},
	Host: kernels.HostKernel{F32: adamwSumsHost[float32], F64: adamwSumsHost[float64]}, Cases: adamwSumsCases,
	Tol: kernels.Tolerance{ULP: 8, Rel: 64}, // those of AdamWPartials, which computes the same
}

// partialsOf returns what a launch of SumAxis sums on a device, if its result is the gradient of
// parameters from one on, and it reads from an element of PART on; nil if it does anything else.
func partialsOf(a []kernels.Arg, at, from int, l kernels.Target) []gradsums.Partial {
	if l.CPU || a[5].Float != 1 || a[6].Int != 0 || SumAxis.Grid(a, l).Empty() {
		return nil
	}
	wide := SumAxis.Grid(a, l).Local[0]
	var list []gradsums.Partial
	outer, n, inner := int(a[2].Int), int(a[3].Int), int(a[4].Int)
	for o := range outer {
		list = append(list, gradsums.Partial{At: at + o*inner, N: inner, From: from + o*n*inner, Len: n, Wide: wide})
	}
	return list
}

// The kinds of block, and how many ints say what one is.
const (
	partialsSum    = 0
	partialsStored = 1
	partialsInts   = 8
)

// sumBlocks returns the BLOCKS of an AdamWSums of n parameters, and whether the gradient of all of
// them is a sum: that of others is read.
func sumBlocks(sums []gradsums.Partial, n int) (blocks []int32, all bool) {
	add := func(kind, wide, at, count, from, terms, apart int) {
		for c := 0; c < count; c += wide {
			for _, v := range []int{kind, at + c, min(wide, count-c), wide, from + c, terms, apart, 0} {
				blocks = append(blocks, int32(v))
			}
		}
	}
	all = true
	stored := func(from, to int) {
		all = all && from == to
		add(partialsStored, sumGroup, from, to-from, from, 1, 0)
	}
	sums = slices.SortedFunc(slices.Values(sums), func(a, b gradsums.Partial) int { return cmp.Compare(a.At, b.At) })
	past := 0
	for _, s := range sums {
		stored(past, s.At)
		past = s.At + s.N
		add(partialsSum, s.Wide, s.At, s.N, s.From, s.Len, s.N)
	}
	stored(past, n)
	return blocks, all
}

func adamwSumsHost[T kernels.Float](c kernels.HostArgs[T]) {
	p, m, v, blocks := c.Floats(0), c.Floats(3), c.Floats(4), c.Ints(5)
	update := adamwUpdater(c, 6)
	for ; len(blocks) > 0; blocks = blocks[partialsInts:] {
		kind, at, count, from, terms, apart := blocks[0], int(blocks[1]), int(blocks[2]), int(blocks[4]), int(blocks[5]), int(blocks[6])
		x := c.Floats(2)
		if kind == partialsStored {
			x = c.Floats(1)
		}
		var room [sumGroup]T
		sums := room[:count]
		for i := range sums {
			total := 0.0
			for k := range terms {
				total += float64(x[from+k*apart+i])
			}
			sums[i] = T(total)
		}
		update(updated[T]{p[at : at+count], sums, m[at : at+count], v[at : at+count]})
	}
}

// adamwSumsCases are sums of all widths, few and many shares, and gaps between them whose gradient
// is stored.
func adamwSumsCases(few bool) []kernels.Case {
	gpu := kernels.Target{Units: 100, MaxGroup: 1024, LocalMem: 32 << 10}
	var cases []kernels.Case
	for _, c := range []struct {
		name string
		n    int
		sums [][4]int // where, outer, len, inner
	}{
		{"none", 300, nil},
		{"one", 1, [][4]int{{0, 1, 5, 1}}},
		{"gaps", 700, [][4]int{{3, 1, 9, 33}, {40, 3, 17, 5}, {400, 1, 2, 290}}},
		{"long", 70, [][4]int{{0, 1, 300, 65}}},
		{"one share", 20, [][4]int{{2, 1, 1, 7}}},
	} {
		if few && c.name == "long" {
			continue
		}
		var list []gradsums.Partial
		part := 0
		for _, s := range c.sums {
			outer, n, inner := s[1], s[2], s[3]
			a := []kernels.Arg{kernels.BufferArg(nil, 0, outer*n*inner), kernels.BufferArg(nil, 0, outer*inner), kernels.IntArg(outer), kernels.IntArg(n), kernels.IntArg(inner), kernels.FloatArg(1), kernels.IntArg(0)}
			list = append(list, partialsOf(a, s[0], part, gpu)...)
			part += outer * n * inner
		}
		blocks, _ := sumBlocks(list, c.n)
		cases = append(cases, kernels.Case{Name: c.name, Build: func(o *kernels.Operands) {
			o.In(c.n, -1, 1).In(c.n, -1, 1).In(part, -1, 1).In(c.n, -1, 1).In(c.n, 0, 1)
			o.Ints(len(blocks), func(i int) int { return int(blocks[i]) }).Float(adamwNumbers...)
		}})
	}
	return cases
}
