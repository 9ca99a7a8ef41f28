package ops

import (
	"math"
	"sync"

	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
)

// foldIntTwin folds lines of ints.
func foldIntTwin(kind FoldKind) func(kernels.Call[int32]) {
	fold := foldInts(kind)
	return func(c kernels.Call[int32]) {
		y, outer, n, inner, chunk := c.Ints(1), c.Int(2), c.Int(3), c.Int(4), c.Int(5)
		set, parts := setOf(c), lower.Parts(n, chunk)
		eachPartial(c, c.Ints(0), outer, n, inner, chunk, parts, foldColumns, 1, func(at int, x []int32, m, w int) {
			fold(set, y[at:][:w], x, m, inner)
		})
	}
}

// foldInts returns a function that folds columns of ints, n rows whose first elements are inner apart, to
// as many as `to` has, row by row: the inner loop runs along memory. It uses the vector instructions of set,
// if there are some.
func foldInts(kind FoldKind) func(set *vec.Set, to, x []int32, n, inner int) {
	none := map[FoldKind]int32{defs.FoldProd: 1, defs.FoldMax: math.MinInt32, defs.FoldMin: math.MaxInt32}[kind]
	join, all := map[FoldKind]vec.Function{
		defs.FoldSum: vec.Add, defs.FoldProd: vec.Mul, defs.FoldMax: vec.Max, defs.FoldMin: vec.Min,
	}[kind]
	return func(set *vec.Set, to, x []int32, n, inner int) {
		if !all { // what is not an element is counted in plain loops
			set = nil
		}
		if inner == 1 {
			if x = x[:n]; set != nil && n >= foldLanes {
				lanes := intLanes.Get().(*[foldLanes]int32)
				defer intLanes.Put(lanes)
				x = foldIntLanes(set, join, lanes[:], x)
			}
			to[0] = foldIntLine(kind, x, none)
			return
		}
		for j := range to {
			to[j] = none
		}
		for k := range n {
			if row := x[k*inner:][:len(to)]; set != nil && len(to) >= foldNarrow {
				set.JoinInts(join, to, row)
			} else {
				foldIntRow(kind, to, row)
			}
		}
	}
}

// intLanes is memory for lanes.
var intLanes = sync.Pool{New: func() any { return new([foldLanes]int32) }}

// foldIntLanes folds x, which has an element for each lane at least, in lanes, of which it returns
// the few that are left.
func foldIntLanes(set *vec.Set, join vec.Function, lanes, x []int32) []int32 {
	for x = x[copy(lanes, x):]; len(x) >= len(lanes); x = x[len(lanes):] {
		set.JoinInts(join, lanes, x[:len(lanes)])
	}
	set.JoinInts(join, lanes[:len(x)], x)
	for len(lanes) > 8 {
		half := len(lanes) / 2
		set.JoinInts(join, lanes[:half], lanes[half:])
		lanes = lanes[:half]
	}
	return lanes
}

// foldIntLine folds a line, whose fold of no elements is none. Four running folds do not wait for each
// other.
func foldIntLine(kind FoldKind, line []int32, none int32) int32 {
	a := [4]int32{none, none, none, none}
	for ; len(line) >= 4; line = line[4:] {
		p := (*[4]int32)(line)
		switch kind {
		case defs.FoldProd:
			a[0], a[1], a[2], a[3] = a[0]*p[0], a[1]*p[1], a[2]*p[2], a[3]*p[3]
		case defs.FoldCount:
			a[0], a[1], a[2], a[3] = a[0]+isNot0(p[0]), a[1]+isNot0(p[1]), a[2]+isNot0(p[2]), a[3]+isNot0(p[3])
		case defs.FoldMax:
			a[0], a[1], a[2], a[3] = max(a[0], p[0]), max(a[1], p[1]), max(a[2], p[2]), max(a[3], p[3])
		case defs.FoldMin:
			a[0], a[1], a[2], a[3] = min(a[0], p[0]), min(a[1], p[1]), min(a[2], p[2]), min(a[3], p[3])
		default:
			a[0], a[1], a[2], a[3] = a[0]+p[0], a[1]+p[1], a[2]+p[2], a[3]+p[3]
		}
	}
	foldIntRow(kind, a[:len(line)], line)
	if kind == defs.FoldCount {
		kind = defs.FoldSum
	}
	foldIntRow(kind, a[:2], a[2:])
	foldIntRow(kind, a[:1], a[1:2])
	return a[0]
}

// foldIntRow folds the elements of row to those of to.
func foldIntRow(kind FoldKind, to, row []int32) {
	to = to[:len(row)]
	switch kind {
	case defs.FoldProd:
		for j, v := range row {
			to[j] *= v
		}
	case defs.FoldCount:
		for j, v := range row {
			to[j] += isNot0(v)
		}
	case defs.FoldMax:
		for j, v := range row {
			to[j] = max(to[j], v)
		}
	case defs.FoldMin:
		for j, v := range row {
			to[j] = min(to[j], v)
		}
	default:
		for j, v := range row {
			to[j] += v
		}
	}
}

// isNot0 is 1 unless v is 0.
func isNot0(v int32) int32 { return int32(uint32(v|-v) >> 31) }
