package ops

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// sortable are the elements that are sorted.
type sortable interface {
	float32 | float64 | int32 | int64 | float16.Float16 | bfloat16.BFloat16
}

// sortKey is an element as an unsigned integer, in the order of a sort.
type sortKey interface{ uint16 | uint32 | uint64 }

func intKey(x int32) uint32 { return uint32(x) ^ 1<<31 }

func longKey(x int64) uint64 { return uint64(x) ^ 1<<63 }

func floatKey(x float32) uint32 {
	if x != x {
		return math.MaxUint32
	}
	b := math.Float32bits(x + 0) // both zeros are one
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

func doubleKey(x float64) uint64 {
	if x != x {
		return math.MaxUint64
	}
	b := math.Float64bits(x + 0)
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

// halfSortKey is the key of a float of 16 bits, of bits whose infinity is the one given.
func halfSortKey(bits, infinity uint16) uint16 {
	size, sign := uint32(bits)&0x7fff, uint32(int32(int16(bits))>>31)
	key := (size ^ sign) - sign + 1<<15 // both zeros are one
	if size > uint32(infinity) {
		key = math.MaxUint16
	}
	return uint16(key)
}

// halfLanes repeats 16 bits in each lane of a word of four.
const halfLanes = 1<<48 | 1<<32 | 1<<16 | 1

// halfWords returns floats of 16 bits in words of four, and those that are left.
func halfWords[T float16.Float16 | bfloat16.BFloat16](x []T) (words []byte, rest []T) {
	n := len(x) / 4 * 4
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 2*n), x[n:]
}

// halfNaNs returns the highest bit of each lane that is a NaN: of sizes, of bits whose infinity is the one given.
func halfNaNs(sizes uint64, infinity uint16) uint64 {
	return (sizes + uint64(0x7fff-infinity)*halfLanes) & (0x8000 * halfLanes)
}

// halfLaneMask returns the lanes, whole, of which the highest bits are given.
func halfLaneMask(highest uint64) uint64 { return highest<<1 - highest>>15 }

// halfOrder returns the order of floats of 16 bits whose infinity has such bits.
func halfOrder[T float16.Float16 | bfloat16.BFloat16](infinity uint16) sortOrder[T, uint16] {
	const sign = 0x8000 * halfLanes
	isNaN := func(v T) bool { return uint16(v)&0x7fff > infinity }
	return sortOrder[T, uint16]{
		func(x T) uint16 { return halfSortKey(uint16(x), infinity) },
		func(to []uint16, x []T, flip uint16) {
			x = x[:len(to)]
			words, rest := halfWords(x)
			keys := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(to))), len(words))
			for flips := uint64(flip) * halfLanes; len(words) >= 8; words, keys = words[8:], keys[8:] {
				v := binary.NativeEndian.Uint64(words)
				size, negative := v&^sign, halfLaneMask(v&sign)
				key := sign + size&^negative - size&negative // no lane borrows of the next
				key |= halfLaneMask(halfNaNs(size, infinity))
				binary.NativeEndian.PutUint64(keys, key^flips)
			}
			for i, v := range rest {
				to[len(x)-len(rest)+i] = halfSortKey(uint16(v), infinity) ^ flip
			}
		},
		func(line []T) int {
			words, at := []byte(nil), 0
			for words, _ = halfWords(line); len(words) >= 8; words, at = words[8:], at+4 {
				if halfNaNs(binary.NativeEndian.Uint64(words)&^sign, infinity) != 0 {
					break
				}
			}
			if nan := slices.IndexFunc(line[at:], isNaN); nan >= 0 {
				return at + nan
			}
			return -1
		},
	}
}

func intKeys(to []uint32, x []int32, flip uint32) {
	for i, v := range x[:len(to)] {
		to[i] = intKey(v) ^ flip
	}
}

func longKeys(to []uint64, x []int64, flip uint64) {
	for i, v := range x[:len(to)] {
		to[i] = longKey(v) ^ flip
	}
}

func floatKeys(to []uint32, x []float32, flip uint32) {
	for i, v := range x[:len(to)] {
		to[i] = floatKey(v) ^ flip
	}
}

func doubleKeys(to []uint64, x []float64, flip uint64) {
	for i, v := range x[:len(to)] {
		to[i] = doubleKey(v) ^ flip
	}
}

// flipped returns what the keys of a sort with such flags are xored with.
func flipped[K sortKey](flags int) K {
	if flags&SortDescending != 0 {
		return ^K(0)
	}
	return 0
}

// sortOrder makes keys of elements of a type. Its methods are the kernels of sorts.
type sortOrder[T sortable, K sortKey] struct {
	one func(x T) K
	all func(to []K, x []T, flip K) // of the first elements of x, as many as to has
	nan func(line []T) int          // the place of the first NaN, −1 if there is none
}

// sortHosts are the kernels of [Sorts] in Go.
type sortHosts struct{ count, move, blocks, digit, merge, median, selectMedian kernels.HostKernel }

func sortHostsOf(t kernels.DType) sortHosts {
	switch t {
	case kernels.Int32:
		return elementSortHosts(sortOrder[int32, uint32]{intKey, intKeys, firstNaN[int32]})
	case kernels.Int64:
		return elementSortHosts(sortOrder[int64, uint64]{longKey, longKeys, firstNaN[int64]})
	case kernels.Float16:
		return elementSortHosts(halfOrder[float16.Float16](halfInfinity(t)))
	case kernels.BFloat16:
		return elementSortHosts(halfOrder[bfloat16.BFloat16](halfInfinity(t)))
	}
	f := sortOrder[float32, uint32]{floatKey, floatKeys, firstNaN[float32]}
	d := sortOrder[float64, uint64]{doubleKey, doubleKeys, firstNaN[float64]}
	return sortHosts{
		kernels.HostKernel{F32: radixCountHost(f.key, sortTiles), F64: radixCountHost(d.key, sortTiles)},
		kernels.HostKernel{F32: radixMoveHost(f.key, false), F64: radixMoveHost(d.key, false)},
		kernels.HostKernel{F32: f.blocks, F64: d.blocks},
		kernels.HostKernel{F32: f.digit, F64: d.digit}, kernels.HostKernel{F32: f.merge, F64: d.merge},
		kernels.HostKernel{F32: f.median, F64: d.median},
		kernels.HostKernel{F32: f.selectMedian, F64: d.selectMedian},
	}
}

func elementSortHosts[T sortable, K sortKey](o sortOrder[T, K]) sortHosts {
	return sortHosts{
		kernels.ElementHostKernel(radixCountHost(o.key, sortTiles)), kernels.ElementHostKernel(radixMoveHost(o.key, false)),
		kernels.ElementHostKernel(o.blocks),
		kernels.ElementHostKernel(o.digit), kernels.ElementHostKernel(o.merge), kernels.ElementHostKernel(o.median),
		kernels.ElementHostKernel(o.selectMedian),
	}
}

// key returns the key of x in a sort with such flags.
func (o sortOrder[T, K]) key(x T, flags int) uint64 { return uint64(o.one(x) ^ flipped[K](flags)) }

// keysAtOnce is how many keys are made of elements before they are looked at.
const keysAtOnce = 512

// eachKeys calls f with the keys of line, some at a time, in their order, and the place of the
// first of them. room is for keysAtOnce of them.
func (o sortOrder[T, K]) eachKeys(line []T, flip K, room []K, f func(at int, keys []K)) {
	for at := 0; at < len(line); at += keysAtOnce {
		keys := room[:min(keysAtOnce, len(line)-at)]
		o.all(keys, line[at:], flip)
		f(at, keys)
	}
}

func (o sortOrder[T, K]) blocks(c kernels.HostArgs[T]) {
	x, given, y, j := c.Floats(0), c.Ints(1), c.Floats(2), c.Ints(3)
	rows, n, block, keep, flags := c.Int(4), c.Int(5), c.Int(6), c.Int(7), c.Int(8)
	if keep == 0 {
		return
	}
	flip, blocks := flipped[K](flags), intmath.CeilDiv(n, block)
	width := min(keep, block)
	rowOut := (blocks-1)*width + min(keep, n-(blocks-1)*block)
	c.Parallel(rows*blocks, 16*min(n, block), func(lo, hi int) {
		room, first := make([]K, keysAtOnce), firstKeys[K]{make([]K, width), make([]int32, width), 0}
		for u := lo; u < hi; u++ {
			row, b := u/blocks, u%blocks
			from, m := row*n+b*block, min(block, n-b*block)
			line := x[from:][:m]
			first.have = 0
			o.eachKeys(line, flip, room, first.insert)
			to := row*rowOut + b*width
			out, index := y[to:][:first.have], j[to:][:first.have]
			for k, at := range first.at[:first.have] {
				if out[k], index[k] = line[at], int32(b*block)+at; flags&SortGiven != 0 {
					index[k] = given[from+int(at)]
				}
			}
		}
	})
}

// firstKeys are the first of the keys that were inserted, in order, and their places: at most as
// many as there is room for.
type firstKeys[K sortKey] struct {
	keys []K
	at   []int32
	have int
}

// insert inserts keys that come from one place on. Equal ones keep their order.
func (f *firstKeys[K]) insert(at int, keys []K) {
	k := 0
	for ; k < len(keys) && f.have < len(f.keys); k++ {
		f.have++
		f.put(keys[k], int32(at+k))
	}
	if k == len(keys) {
		return
	}
	last := f.keys[f.have-1]
	for i, key := range keys[k:] {
		if key < last {
			f.put(key, int32(at+k+i))
			last = f.keys[f.have-1]
		}
	}
}

// put inserts one key in place of the last.
func (f *firstKeys[K]) put(key K, at int32) {
	keys, places, to := f.keys[:f.have], f.at[:f.have], f.have-1
	if to < 16 {
		for ; to > 0 && keys[to-1] > key; to-- {
			keys[to], places[to] = keys[to-1], places[to-1]
		}
	} else {
		low := 0
		for low < to {
			if mid := int(uint(low+to) / 2); keys[mid] <= key {
				low = mid + 1
			} else {
				to = mid
			}
		}
		copy(keys[to+1:], keys[to:])
		copy(places[to+1:], places[to:])
	}
	keys[to], places[to] = key, at
}

func (o sortOrder[T, K]) digit(c kernels.HostArgs[T]) {
	x, given, y, j := c.Floats(0), c.Ints(1), c.Floats(2), c.Ints(3)
	rows, n, block, shift, mask, flags := c.Int(4), c.Int(5), c.Int(6), uint(c.Int(7)), K(1)<<c.Int(8)-1, c.Int(9)
	flip, blocks := flipped[K](flags), intmath.CeilDiv(n, block)
	c.Parallel(rows*blocks, 4*min(n, block), func(lo, hi int) {
		keys, next := make([]K, keysAtOnce), make([]int32, mask+1)
		for u := lo; u < hi; u++ {
			b := u % blocks
			from, m := u/blocks*n+b*block, min(block, n-b*block)
			line, out, index := x[from:][:m], y[from:][:m], j[from:][:m]
			clear(next)
			o.eachKeys(line, flip, keys, func(_ int, keys []K) {
				for _, key := range keys {
					next[key>>shift&mask]++
				}
			})
			sum := int32(0)
			for d, count := range next {
				next[d] = sum
				sum += count
			}
			o.eachKeys(line, flip, keys, func(at int, keys []K) {
				values := line[at:][:len(keys)]
				if flags&SortGiven == 0 {
					for i, key := range keys {
						to := next[key>>shift&mask]
						next[key>>shift&mask]++
						out[to], index[to] = values[i], int32(b*block+at+i)
					}
					return
				}
				of := given[from+at:][:len(keys)]
				for i, key := range keys {
					to := next[key>>shift&mask]
					next[key>>shift&mask]++
					out[to], index[to] = values[i], of[i]
				}
			})
		}
	})
}

func (o sortOrder[T, K]) merge(c kernels.HostArgs[T]) {
	x, index, y, j := c.Floats(0), c.Ints(1), c.Floats(2), c.Ints(3)
	rows, n, run, flags := c.Int(4), c.Int(5), c.Int(6), c.Int(8)
	flip, pairs := flipped[K](flags), intmath.CeilDiv(n, 2*run)
	c.Parallel(rows*pairs, 8*min(n, run), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			at, end := u/pairs*n+u%pairs*2*run, u/pairs*n+min(n, (u%pairs+1)*2*run)
			a, b := at, min(end, at+run)
			for middle := b; at < end; at++ {
				from := &b
				if a < middle && (b == end || o.one(x[a])^flip <= o.one(x[b])^flip) {
					from = &a
				}
				y[at], j[at] = x[*from], index[*from]
				*from++
			}
		}
	})
}

func (o sortOrder[T, K]) median(c kernels.HostArgs[T]) {
	x, index, y, j, rows, n := c.Floats(0), c.Ints(1), c.Floats(2), c.Ints(3), c.Int(4), c.Int(5)
	for row := range rows {
		line := x[row*n:][:n]
		at := (n - 1) / 2
		if nan := o.nan(line); nan >= 0 {
			at = nan
		}
		y[row], j[row] = line[at], index[row*n+at]
	}
}

// selectMedian finds digits of the median's key from the highest on, among the elements that agree
// with it so far.
func (o sortOrder[T, K]) selectMedian(c kernels.HostArgs[T]) {
	x, y, j, rows, n := c.Floats(0), c.Floats(1), c.Ints(2), c.Int(3), c.Int(4)
	bits := 8 * int(unsafe.Sizeof(K(0)))
	c.Parallel(rows, 4*n, func(lo, hi int) {
		room := make([]K, keysAtOnce)
		var keys []K
		var places []int32
		for row := lo; row < hi; row++ {
			line := x[row*n:][:n]
			if nan := o.nan(line); nan >= 0 {
				y[row], j[row] = line[nan], int32(nan)
				continue
			}
			shift := bits - 8
			var counts [256]int
			o.eachKeys(line, 0, room, func(_ int, keys []K) {
				for _, key := range keys {
					counts[uint8(key>>shift)]++
				}
			})
			digit, rank := digitOf(&counts, (n-1)/2)
			if most := counts[digit]; cap(keys) < most {
				keys, places = make([]K, most), make([]int32, most)
			}
			keys, places = keys[:counts[digit]], places[:counts[digit]]
			left := 0
			o.eachKeys(line, 0, room, func(at int, all []K) {
				for i, key := range all {
					if uint8(key>>shift) == digit {
						keys[left], places[left] = key, int32(at+i)
						left++
					}
				}
			})
			for shift > 0 && len(keys) > 1 {
				shift -= 8
				clear(counts[:])
				for _, key := range keys {
					counts[uint8(key>>shift)]++
				}
				digit, rank = digitOf(&counts, rank)
				left := 0
				for i, key := range keys {
					if uint8(key>>shift) == digit {
						keys[left], places[left] = key, places[i]
						left++
					}
				}
				keys, places = keys[:left], places[:left]
			}
			at := places[rank]
			y[row], j[row] = line[at], at
		}
	})
}

// digitOf returns which digit the element of a rank has, of which there are so many of each, and
// its rank among those that have it.
func digitOf(counts *[256]int, rank int) (uint8, int) {
	for d, count := range counts {
		if rank < count {
			return uint8(d), rank
		}
		rank -= count
	}
	panic("ops: a rank beyond all elements")
}

// firstNaN returns the place of the first NaN, −1 if there is none.
func firstNaN[T float32 | float64 | int32 | int64](line []T) int {
	for i, v := range line {
		if v != v {
			return i
		}
	}
	return -1
}
