package ops

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// integerConv is a launch of ConvInteger on the Go device.
type integerConv struct {
	*ConvShape
	set          *vec.Set
	x, w         byteOperand
	zeroX, zeroW []int32
	y            []int32
	tile         *byteTile
	weights      byteOperand // W with the channels of a tap beside each other, rounded up as those of a tile
}

func convIntegerHost(c kernels.HostArgs[uint8]) {
	var numbers [convCount]kernels.Arg
	for i := range numbers {
		numbers[i] = kernels.IntArg(c.Int(convIntegerNumbers + i))
	}
	sign := c.Int(convIntegerSign)
	signedX, signedW := sign&1 != 0, sign&2 != 0
	v := &integerConv{ConvShape: convShapeOf(numbers[:], 0), set: setOf(c), y: c.Ints(convIntegerY),
		x: byteOperand{c.Bytes(convIntegerX), signedX}, w: byteOperand{c.Bytes(convIntegerW), signedW},
		zeroX: zeroPoints(c, convIntegerZeroX, c.Int(convIntegerZerosX), signedX),
		zeroW: zeroPoints(c, convIntegerZeroW, c.Int(convIntegerZerosW), signedW)}
	if v.depthwise() {
		return
	}
	v.tiles()
}

// zero returns the zero point of X, and its byte.
func (v *integerConv) zero() (int32, uint8) {
	if len(v.zeroX) == 0 {
		return 0, 0
	}
	return v.zeroX[0], uint8(v.zeroX[0])
}

// integerConvScratch is what a goroutine needs: a tile, what it is packed to, and its outputs.
type integerConvScratch struct {
	tile    []uint8
	packed  vec.ByteMatrix
	outputs []int32
}

var integerConvScratches, integerConvWeights sync.Pool // of *integerConvScratch, *[]uint8

// tiles computes Y as products of the weights and of what the positions of a tile meet. The channels that are added
// to X hold its zero point, so that nothing is added to the sums.
func (v *integerConv) tiles() {
	workers := parallel.Workers(1<<20, 1)
	v.tile = newByteTile(v.ConvShape, workers)
	kept := v.arrangeWeights()
	defer integerConvWeights.Put(kept)
	units := v.Batch * v.Groups * v.tile.perImage(v.ConvShape)
	if units < workers {
		for u := range units {
			v.unit(u, parallel.For)
		}
		return
	}
	each := v.tile.rows * v.tile.cols * len(v.tile.taps) * v.tile.channels * (v.Out + 8) / 16
	parallel.For(units, intmath.CeilDiv(parallel.Grain, each), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			v.unit(u, nil)
		}
	})
}

// arrangeWeights sets weights, in memory that it returns.
func (v *integerConv) arrangeWeights() *[]uint8 {
	taps, channels := volume(v.Kernel), v.tile.channels
	memory, _ := integerConvWeights.Get().(*[]uint8)
	if memory == nil {
		memory = new([]uint8)
	}
	*memory = slices.Grow((*memory)[:0], v.Groups*v.Out*taps*channels)[:v.Groups*v.Out*taps*channels]
	to := *memory
	parallel.For(v.Groups*v.Out, intmath.CeilDiv(parallel.Grain, taps*channels), func(lo, hi int) {
		for o := lo; o < hi; o++ {
			from := v.w.bits[o*v.In*taps:][:v.In*taps]
			row := to[o*taps*channels:][:taps*channels]
			if taps == 1 {
				copy(row, from)
				continue
			}
			c := 0
			for ; c+8 <= v.In; c += 8 {
				for t := range taps {
					b := from[c*taps+t:][:7*taps+1]
					binary.LittleEndian.PutUint64(row[t*channels+c:], uint64(b[0])|uint64(b[taps])<<8|
						uint64(b[2*taps])<<16|uint64(b[3*taps])<<24|uint64(b[4*taps])<<32|uint64(b[5*taps])<<40|
						uint64(b[6*taps])<<48|uint64(b[7*taps])<<56)
				}
			}
			for ; c < v.In; c++ {
				for t := range taps {
					row[t*channels+c] = from[c*taps+t]
				}
			}
		}
	})
	v.weights = byteOperand{to, v.w.signed}
	return memory
}

// unit computes a tile of an image and group; each shares its work out.
func (v *integerConv) unit(u int, each func(n, min int, f func(lo, hi int))) {
	s, _ := integerConvScratches.Get().(*integerConvScratch)
	if s == nil {
		s = new(integerConvScratch)
	}
	defer integerConvScratches.Put(s)
	t := v.tile
	across, down := (v.OutSize[2]+t.cols-1)/t.cols, (v.OutSize[1]+t.rows-1)/t.rows
	image := u / (across * down * v.OutSize[0]) // and group
	at := [3]int{u / (across * down) % v.OutSize[0], u / across % down * t.rows, u % across * t.cols}
	rows, cols := min(t.rows, v.OutSize[1]-at[1]), min(t.cols, v.OutSize[2]-at[2])
	zero, fill := v.zero()
	const behind = 15 // elements, that PackTaps reads
	s.tile = slices.Grow(s.tile[:0], t.channels*t.plane+behind)[:t.channels*t.plane+behind]
	t.fill(s.tile, v.x.bits[image*v.In*volume(v.Size):], v.ConvShape, at, fill)
	n := (rows-1)*t.x.length + cols
	s.packed.PackTaps(v.set, vec.BytesAs(s.tile, v.x.signed), t.taps, t.channels, n, t.plane, each)
	group, sum, size := image%v.Groups, t.channels*len(t.taps), volume(v.OutSize)
	p := vec.ByteProduct{M: v.Out, A: v.weights.from(group * v.Out * sum), RowA: sum, StepA: 1, ZeroA: v.zeroW,
		B: &s.packed, ZeroB: []int32{zero}}
	if len(v.zeroW) > 1 {
		p.ZeroA = v.zeroW[group*v.Out:][:v.Out]
	}
	y := v.y[image*v.Out*size+(at[0]*v.OutSize[1]+at[1])*v.OutSize[2]+at[2]:]
	if cols == t.x.length && cols == v.OutSize[2] { // outputs are neighbours
		p.C, p.RowC = y, size
		vec.MultiplyBytes(v.set, p, each)
		return
	}
	s.outputs = slices.Grow(s.outputs[:0], v.Out*n)[:v.Out*n]
	p.C, p.RowC = s.outputs, n
	vec.MultiplyBytes(v.set, p, each)
	for o := range v.Out {
		for r := range rows {
			copy(y[o*size+r*v.OutSize[2]:][:cols], s.outputs[o*n+r*t.x.length:])
		}
	}
}

// depthwise computes groups of one channel to one channel by the loops on floats, whose sums are exact: they are less
// than 2²⁴. It reports whether it did.
func (v *integerConv) depthwise() bool {
	if v.In != 1 || v.Out != 1 || volume(v.Kernel) > 256 || v.set == nil {
		return false
	}
	form := newDepthwise(vec.On[float32](v.set), v.forward(0), v.forward(1), v.forward(2), v.Size)
	if form.width > 4*(v.OutSize[2]+v.Size[2]) {
		return false // a dilation so wide that planes are nothing but padding
	}
	size, taps := volume(v.OutSize), volume(v.Kernel)
	zeroX, _ := v.zero()
	loops := vec.On[float32](v.set)
	parallel.For(v.Batch*v.Groups, intmath.CeilDiv(parallel.Grain, size*(taps+4)/4), func(lo, hi int) {
		s, _ := depthwiseScratches.Get().(*depthwiseScratch)
		if s == nil {
			s = new(depthwiseScratch)
		}
		defer depthwiseScratches.Put(s)
		planes, sums, by, offsets := s.own.planes, s.own.sums, s.own.by, s.own.offsets
		s.own = *form
		s.own.planes, s.own.sums, s.own.by, s.own.offsets = planes, sums, by, offsets
		s.x, s.y, s.w = grown(s.x, volume(v.Size)), grown(s.y, size), grown(s.w, taps)
		for u := lo; u < hi; u++ {
			g := u % v.Groups
			zeroW := int32(0)
			if len(v.zeroW) > 0 {
				zeroW = v.zeroW[min(g, len(v.zeroW)-1)]
			}
			for i, b := range v.w.bits[g*taps:][:taps] {
				s.w[i] = float32(int32(b) - zeroW)
				if v.w.signed {
					s.w[i] = float32(int32(int8(b)) - zeroW)
				}
			}
			s.load(loops, v.set, v.x.bits[u*len(s.x):][:len(s.x)], v.x.signed, zeroX)
			s.own.weigh(s.w, v.Kernel)
			for i := range s.own.blocks() {
				qz, qy, rows := s.own.block(i)
				s.own.fill(s.x, qz, qy, rows, false)
				s.own.outputs(s.y, v.OutSize, 0, qz, qy, rows)
			}
			to, from := v.y[u*size:][:size], vec.Ints(s.y)
			v.set.MapInts(vec.ToInts, to, from, from, from, from)
		}
	})
	return true
}

// depthwiseScratch is what a goroutine needs for channels as floats.
type depthwiseScratch struct {
	own     depthwise[float32]
	x, w, y []float32
	flipped []uint8
}

var depthwiseScratches sync.Pool // of *depthwiseScratch

// load sets x to a channel as floats, less zero.
func (s *depthwiseScratch) load(loops *vec.Loops[float32], set *vec.Set, channel []uint8, signed bool, zero int32) {
	if signed { // v + 128 has the bits of v as if it had no sign, but for the first
		s.flipped = append(s.flipped[:0], channel...)
		channel, zero = s.flipped, zero+128
		whole := len(channel) / 8 * 8
		for i := 0; i < whole; i += 8 {
			eight := channel[i:][:8]
			binary.LittleEndian.PutUint64(eight, binary.LittleEndian.Uint64(eight)^0x8080808080808080)
		}
		for i := whole; i < len(channel); i++ {
			channel[i] ^= 128
		}
	}
	vec.FromBytes(set, s.x, channel)
	loops.MapBy(vec.Add, s.x, s.x, float32(-zero))
}
