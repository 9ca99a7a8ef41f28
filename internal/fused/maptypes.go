package fused

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/x448/float16"
)

// loader copies a block of tensor t, whose elements are of another type than a map computes in, to
// d; storer copies r to such a block. at is scratch.
type (
	loader[T expr.Number] func(l *mapLoops, t int, p blockRange, at []int, a kernels.Arg, d []T, set *vec.Set)
	storer[T expr.Number] func(l *mapLoops, t int, p blockRange, at []int, r []T, a kernels.Arg, set *vec.Set)
)

// typed returns the loader and the storer of elements of a type.
func typed[T expr.Number](typ kernels.DType, o lowbit.CastOptions) (loader[T], storer[T]) {
	if typ.Storage() {
		s := storedTableOf(typ)
		return load(widenStored[T](s)), store(narrowStored[T](s, o))
	}
	switch typ {
	case kernels.Int8:
		return load(widen[int8, T]), store(narrow[int8, T])
	case kernels.Int16:
		return load(widen[int16, T]), store(narrow[int16, T])
	case kernels.Int32:
		return load(widen[int32, T]), store(narrow[int32, T])
	case kernels.Int64:
		return load(widen[int64, T]), store(narrow[int64, T])
	case kernels.Uint8:
		return load(widen[uint8, T]), store(narrow[uint8, T])
	case kernels.Uint16:
		return load(widen[uint16, T]), store(narrow[uint16, T])
	case kernels.Uint32:
		return load(widen[uint32, T]), store(narrow[uint32, T])
	case kernels.Uint64:
		return load(widen[uint64, T]), store(narrow[uint64, T])
	case kernels.Float16:
		return load(widen[float16.Float16, T]), store(narrow[float16.Float16, T])
	case kernels.BFloat16:
		return load(widen[bfloat16.BFloat16, T]), store(narrow[bfloat16.BFloat16, T])
	}
	return load(widen[float32, T]), store(narrow[float32, T])
}

// widener sets the elements of to to those of x, which is at least as long. narrower does the same of
// numbers that become elements, as many.
type (
	widener[E kernels.Element, T expr.Number]  func(set *vec.Set, to []T, x []E)
	narrower[E kernels.Element, T expr.Number] func(set *vec.Set, to []E, x []T)
)

// shortRow is how many elements fewer than which rows of a block are converted together.
const shortRow = 64

// load returns the loader of elements that widen makes numbers. Those that do not lie side by side, and short
// rows, pass through a tile.
func load[E kernels.Element, T expr.Number](widen widener[E, T]) loader[T] {
	var tile []E // of the goroutine that has the loader
	return func(l *mapLoops, t int, p blockRange, at []int, a kernels.Arg, d []T, set *vec.Set) {
		x := kernels.Slice[E](a.Buf.(*kernels.HostBuffer), a.Off, a.N)
		p, at = l.joined(t, p, at)
		l.starts(t, p.r, at)
		step := l.strides[t][l.rank-1]
		switch {
		case step == 0:
			for r, start := range at {
				if row := d[r*p.cols : (r+1)*p.cols]; len(row) > 0 {
					widen(set, row[:1], x[start:])
					vec.Fill(row, row[0])
				}
			}
		case inRows(p, step):
			for r, start := range at {
				widen(set, d[r*p.cols:(r+1)*p.cols], x[start+p.c:])
			}
		default:
			tile = slices.Grow(tile[:0], len(d))[:len(d)]
			loadTile(tile, x, p, at, step, set)
			widen(set, d, tile)
		}
	}
}

// store returns the storer of elements that narrow makes of numbers, as load does.
func store[E kernels.Element, T expr.Number](narrow narrower[E, T]) storer[T] {
	var tile []E
	return func(l *mapLoops, t int, p blockRange, at []int, r []T, a kernels.Arg, set *vec.Set) {
		y := kernels.Slice[E](a.Buf.(*kernels.HostBuffer), a.Off, a.N)
		p, at = l.joined(t, p, at)
		l.starts(t, p.r, at)
		step := l.strides[t][l.rank-1]
		if inRows(p, step) {
			for k, start := range at {
				row := r[k*p.cols : (k+1)*p.cols]
				narrow(set, y[start+p.c:][:len(row)], row)
			}
			return
		}
		tile = slices.Grow(tile[:0], len(r))[:len(r)]
		narrow(set, tile, r)
		storeTile(y, tile, p, at, step, set)
	}
}

// inRows reports whether the rows of a block are converted one by one, where they lie.
func inRows(p blockRange, step int) bool { return step == 1 && (p.rows == 1 || p.cols >= shortRow) }

// widen sets the elements of to to those of x, which is at least as long: floats are rounded to
// nearest.
func widen[E kernels.Element, T expr.Number](set *vec.Set, to []T, x []E) {
	x = x[:len(to)]
	floats, single := any(to).([]float32)
	switch x := any(x).(type) {
	case []uint8:
		switch to := any(to).(type) {
		case []float32:
			vec.FromBytes(set, to, x)
			return
		case []int32:
			vec.FromBytes(set, to, x)
			return
		}
	case []int32:
		if set != nil && single {
			set.MapInts(vec.FromInts, vec.Ints(floats), x, x, x, x)
			return
		}
	case []float16.Float16:
		widenHalves(set, to, floats, x, float16.Float16.Float32)
		return
	case []bfloat16.BFloat16:
		widenHalves(set, to, floats, x, bfloat16.BFloat16.Float32)
		return
	}
	for i, v := range x {
		to[i] = T(v)
	}
}

// widenHalves is widen of floats of 16 bits. floats is to, if that is of float32.
func widenHalves[E vec.Half, T expr.Number](set *vec.Set, to []T, floats []float32, x []E, float func(E) float32) {
	if floats != nil {
		vec.FromHalves(set, floats, x)
		return
	}
	for i, v := range x {
		to[i] = T(float(v))
	}
}

// narrow sets the elements of to to those of x, which is as long: integers wrap around, and floats
// become the nearest number that there is, as integers with their fraction cut off.
func narrow[E kernels.Element, T expr.Number](set *vec.Set, to []E, x []T) {
	x = x[:len(to)]
	if one := T(1); one/2 == 0 { // of integers
		bytes, ok := any(to).([]uint8)
		if ints, of := any(x).([]int32); ok && of {
			vec.ToBytes(set, bytes, ints)
			return
		}
		for i, v := range x {
			to[i] = E(v)
		}
		return
	}
	floats, single := any(x).([]float32)
	switch to := any(to).(type) {
	case []float32:
		for i, v := range x {
			to[i] = float32(v)
		}
	case []float16.Float16:
		if single {
			vec.ToHalves(set, to, floats)
			return
		}
		for i, v := range x {
			to[i] = convert.ToFloat16(float64(v))
		}
	case []bfloat16.BFloat16:
		if single {
			vec.ToHalves(set, to, floats)
			return
		}
		for i, v := range x {
			to[i] = convert.ToBFloat16(float64(v))
		}
	case []int32:
		if set != nil && single {
			words := vec.Ints(floats)
			set.MapInts(vec.ToInts, to, words, words, words, words)
			return
		}
		cutOff(to, x)
	case []int8:
		if set != nil && single {
			toBytes(set, asBytes(to), floats, signedBytes)
			return
		}
		cutOff(to, x)
	case []int16:
		cutOff(to, x)
	case []int64:
		cutOff(to, x)
	case []uint8:
		if set != nil && single {
			toBytes(set, to, floats, unsignedBytes)
			return
		}
		cutOff(to, x)
	case []uint16:
		cutOff(to, x)
	case []uint32:
		cutOff(to, x)
	case []uint64:
		cutOff(to, x)
	}
}

// byteRun is how many floats become integers of 8 bits at a time.
const byteRun = 512

// byteRange is the ends of a type of integers of 8 bits, as often as vectors read them.
type byteRange struct{ least, most [byteRun]int32 }

var (
	signedBytes, unsignedBytes = newByteRange(math.MinInt8, math.MaxInt8), newByteRange(0, math.MaxUint8)
	byteRuns                   = sync.Pool{New: func() any { return new([byteRun]int32) }}
)

func newByteRange(least, most int32) *byteRange {
	r := new(byteRange)
	vec.Fill(r.least[:], least)
	vec.Fill(r.most[:], most)
	return r
}

// toBytes is cutOff of integers of 8 bits in vectors.
func toBytes(set *vec.Set, to []uint8, x []float32, r *byteRange) {
	ints := byteRuns.Get().(*[byteRun]int32)
	for len(to) > 0 {
		n := min(len(to), byteRun)
		words, run := vec.Ints(x[:n]), ints[:n]
		set.MapInts(vec.ToInts, run, words, words, words, words)
		set.JoinInts(vec.Max, run, r.least[:n])
		set.JoinInts(vec.Min, run, r.most[:n])
		vec.ToBytes(set, to[:n], run)
		to, x = to[n:], x[n:]
	}
	byteRuns.Put(ints)
}

// asBytes returns the memory of integers as bytes.
func asBytes(x []int8) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// cutOff sets integers to floats with their fraction cut off.
func cutOff[I convert.Integer, T expr.Number](to []I, x []T) {
	for i, v := range x {
		to[i] = convert.ToInteger[I](float64(v))
	}
}

// loadOdd is load of integers of 32 bits and more that are rounded to floats of 16 bits next.
func loadOdd[E convert.Integer, T expr.Number](l *mapLoops, t int, p blockRange, at []int, a kernels.Arg, d []T,
	set *vec.Set) {
	x := kernels.Slice[E](a.Buf.(*kernels.HostBuffer), a.Off, a.N)
	l.starts(t, p.r, at)
	step := l.strides[t][l.rank-1]
	for r, start := range at {
		row := d[r*p.cols : (r+1)*p.cols]
		for c := range row {
			row[c] = T(convert.OddFloat(x[start+(p.c+c)*step]))
		}
	}
}

func typedOdd[T expr.Number](typ kernels.DType) loader[T] {
	switch typ {
	case kernels.Int32:
		return loadOdd[int32, T]
	case kernels.Int64:
		return loadOdd[int64, T]
	case kernels.Uint32:
		return loadOdd[uint32, T]
	}
	return loadOdd[uint64, T]
}
