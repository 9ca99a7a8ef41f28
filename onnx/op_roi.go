package onnx

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "MaxRoiPool", Attributes: "pooled_shape spatial_scale", Run: maxRoiPool,
			Shape: func(c *ShapeCall) []Known { return []Known{c.regions(1, c.IntList("pooled_shape"))} }},
		Operator{Name: "RoiAlign", Since: 10,
			Attributes: "coordinate_transformation_mode mode output_height output_width " +
				"sampling_ratio spatial_scale", Run: roiAlign,
			Shape: func(c *ShapeCall) []Known {
				return []Known{c.regions(1, []int{c.Int("output_height", 1), c.Int("output_width", 1)})}
			}},
	)
}

// A bin is an element of the output of a pooling of regions: the elements of an image that it is made of, and their
// weights.
type bin struct {
	index   []int64 // rows of the images as matrices [positions, channels]
	weights []float64
}

// mostOfBins is how many elements bins are gathered from at a time, and mostOfRegion how many one region may have.
const (
	mostOfBins   = 1 << 24
	mostOfRegion = 1 << 26
)

// pooledBins returns the sums or maxima of the weighted elements of bins of x [images, channels, height, width], [bins,
// channels]. Bins may have different numbers of elements; one that has none is 0.
func pooledBins(c *Call, x *autograd.Node, bins []bin, maxima bool) *autograd.Node {
	shape := x.Shape()
	channels := shape[1]
	rows := x.Transpose(0, 2, 3, 1).Reshape(shape[0]*shape[2]*shape[3], channels)
	var parts []*autograd.Node
	for len(bins) > 0 {
		n, each := 0, 1
		for n < len(bins) {
			more := max(each, len(bins[n].index))
			if n > 0 && (n+1)*more*max(channels, 1) > mostOfBins {
				break
			}
			n, each = n+1, more
		}
		parts = append(parts, gatheredBins(c, rows, bins[:n], each, maxima))
		bins = bins[n:]
	}
	if parts == nil {
		return autograd.Const(tensor.ZerosOf(c.Device(), x.Type(), 0, channels))
	}
	return autograd.Concat(0, parts...)
}

// gatheredBins is pooledBins of some, which have at most so many elements each.
func gatheredBins(c *Call, rows *autograd.Node, bins []bin, each int, maxima bool) *autograd.Node {
	index, weights := make([]int64, 0, len(bins)*each), make([]float64, 0, len(bins)*each)
	for _, b := range bins {
		for k := range each {
			switch {
			case k < len(b.index):
				index, weights = append(index, b.index[k]), append(weights, b.weights[k])
			case maxima && len(b.index) > 0: // an element again does not change a maximum
				index, weights = append(index, b.index[0]), append(weights, b.weights[0])
			default:
				index, weights = append(index, 0), append(weights, 0)
			}
		}
	}
	y := rows.Embedding(tensor.New(c.Device(), index, len(bins), each))
	w := weightsOf(c, weights, rows.Type(), len(bins), 1, each)
	if !maxima {
		return w.MatMul(y).Reshape(len(bins), rows.Shape()[1])
	}
	return y.Mul(w.Reshape(len(bins), each, 1)).Max(1)
}

// regionsOf returns input 0, images, and input 1, regions of so many numbers each.
func regionsOf(c *Call, numbers int) (x *autograd.Node, regions [][]float64) {
	x = floatsOf(c, 0)
	if shape := c.Shape(1); x.Rank() != 4 || x.Len() == 0 || len(shape) != 2 || shape[1] != numbers {
		c.fail(tensor.ErrShape, "regions %v of images %v", shape, x.Shape())
	}
	list := c.Floats(1)
	for i := 0; i < len(list); i += numbers {
		for _, v := range list[i : i+numbers] {
			if !(math.Abs(v) < mostAxis) {
				c.Fail("region %d is %v", i/numbers, list[i:i+numbers])
			}
		}
		regions = append(regions, list[i:i+numbers])
	}
	return x, regions
}

// checkImage fails unless there is an image of a number.
func checkImage(c *Call, image, images int) {
	if image < 0 || image >= images {
		c.fail(tensor.ErrIndex, "a region of image %d of %d", image, images)
	}
}

func maxRoiPool(c *Call) []*Value {
	x, regions := regionsOf(c, 5)
	size, scale := c.IntList("pooled_shape"), c.Float("spatial_scale", 1)
	if size == nil {
		c.Fail("attribute pooled_shape is missing")
	}
	size = eachAxis(&c.nodeCall, "pooled_shape", size, 2, 1, 1)
	shape := x.Shape()
	if size[0]*size[1] > mostOfRegion {
		c.Fail("attribute pooled_shape is %v", size)
	}
	var bins []bin
	for _, r := range regions {
		image := int(r[0])
		checkImage(c, image, shape[0])
		var from, to [2][]int // of each row or column of bins
		for a := range 2 {
			first := math.Round(r[2-a] * scale)
			length := max(math.Round(r[4-a]*scale)-first+1, 1)
			step := length / float64(size[a])
			for q := range size[a] {
				limit := func(v float64) int { return int(min(max(v+first, 0), float64(shape[2+a]))) }
				from[a] = append(from[a], limit(math.Floor(float64(q)*step)))
				to[a] = append(to[a], limit(math.Ceil(float64(q+1)*step)))
			}
		}
		for p := range size[0] {
			for q := range size[1] {
				var b bin
				for i := from[0][p]; i < to[0][p]; i++ {
					for j := from[1][q]; j < to[1][q]; j++ {
						b.index, b.weights = append(b.index, int64((image*shape[2]+i)*shape[3]+j)), append(b.weights, 1)
					}
				}
				bins = append(bins, b)
			}
		}
	}
	y := pooledBins(c, x, bins, true)
	return Out(y.Reshape(len(regions), size[0], size[1], shape[1]).Transpose(0, 3, 1, 2))
}

func roiAlign(c *Call) []*Value {
	x, regions := regionsOf(c, 4)
	images := c.Ints(2)
	shape, size := x.Shape(), [2]int{c.Int("output_height", 1), c.Int("output_width", 1)}
	scale, ratio, mode := c.Float("spatial_scale", 1), c.Int("sampling_ratio", 0), c.oneOf("mode", "avg", "max")
	half := c.Version() >= 16 && c.oneOf("coordinate_transformation_mode", "half_pixel",
		"output_half_pixel") == "half_pixel"
	if len(images) != len(regions) {
		c.fail(tensor.ErrShape, "%d regions, and the images of %d", len(regions), len(images))
	}
	if min(size[0], size[1]) < 1 || max(size[0], size[1]) > mostAxis || size[0]*size[1] > mostOfRegion {
		c.Fail("an output of %v", size)
	}
	var bins []bin
	for i, r := range regions {
		checkImage(c, images[i], shape[0])
		var samples [2]int
		var points [2][]float64 // of all rows and columns of bins
		for a := range 2 {
			first, last := r[1-a]*scale, r[3-a]*scale
			if half {
				first, last = first-0.5, last-0.5
			}
			length := last - first
			if !half {
				length = max(length, 1)
			}
			step := length / float64(size[a])
			if samples[a] = ratio; ratio <= 0 {
				samples[a] = int(math.Ceil(step))
			}
			if samples[a] > mostOfRegion/(size[0]*size[1]*4) {
				c.Fail("region %d has %d samples", i, samples[a])
			}
			for q := range size[a] {
				for k := range max(samples[a], 0) {
					points[a] = append(points[a], first+step*(float64(q)+(float64(k)+0.5)/float64(samples[a])))
				}
			}
		}
		count := max(samples[0], 0) * max(samples[1], 0)
		if count > mostOfRegion/(size[0]*size[1]*4) {
			c.Fail("region %d has %d samples", i, count)
		}
		for p := range size[0] {
			for q := range size[1] {
				b := bin{}
				for k := range count {
					y, x := points[0][p*samples[0]+k/samples[1]], points[1][q*samples[1]+k%samples[1]]
					b.sample(images[i]*shape[2]*shape[3], y, x, shape[2], shape[3])
				}
				if mode == "avg" {
					for k := range b.weights {
						b.weights[k] /= float64(count)
					}
				}
				bins = append(bins, b)
			}
		}
	}
	y := pooledBins(c, x, bins, mode == "max")
	return Out(y.Reshape(len(regions), size[0], size[1], shape[1]).Transpose(0, 3, 1, 2))
}

// sample adds the four neighbours of a point in an image that begins at a row. One that is more than 1 outside is 0.
func (b *bin) sample(first int, y, x float64, height, width int) {
	outside := y < -1 || y > float64(height) || x < -1 || x > float64(width)
	at := [2][2]int{}
	part := [2][2]float64{}
	for a, v := range [2]float64{y, x} {
		last := float64([2]int{height, width}[a] - 1)
		v = min(max(v, 0), last)
		low := math.Floor(v)
		at[a] = [2]int{int(low), int(min(low+1, last))}
		part[a] = [2]float64{1 - (v - low), v - low}
	}
	for i := range 2 {
		for j := range 2 {
			w := part[0][i] * part[1][j]
			if outside {
				w = 0
			}
			b.index = append(b.index, int64(first+at[0][i]*width+at[1][j]))
			b.weights = append(b.weights, w)
		}
	}
}

// regions returns the pooled regions that input i lists.
func (c *ShapeCall) regions(i int, size []int) Known {
	out := ofRank(c.Type(0), 4)
	if dims := c.Dims(i); len(dims) > 0 {
		out.Dims[0] = dims[0]
	}
	if dims := c.Dims(0); len(dims) == 4 {
		out.Dims[1] = dims[1]
	}
	if len(size) == 2 {
		copy(out.Dims[2:], dimsOf(size))
	}
	return out
}
