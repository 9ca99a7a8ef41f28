package onnx

import (
	"cmp"
	"slices"
)

func init() {
	Register(Operator{Name: "NonMaxSuppression", Attributes: "center_point_box", Run: nonMaxSuppression,
		Shape: func(c *ShapeCall) []Known { return []Known{{Type: "int64", Dims: []Dim{{}, NewDim(3)}}} }})
}

// nonMaxSuppression selects, for each batch and class, boxes by their scores that overlap with none selected before. It
// computes on the host: how many there are depends on the numbers. The result is [batch, class, box] of each.
func nonMaxSuppression(c *Call) []*Value {
	at, of := c.dims(0), c.dims(1)
	if len(at) != 3 || len(of) != 3 || at[2] != 4 || at[0] != of[0] || at[1] != of[2] {
		c.Fail("boxes of shape %v and scores of shape %v", at, of)
	}
	most, overlap := c.IntOf(2, 0), float32(c.FloatOf(3, 0))
	centre := c.Int("center_point_box", 0)
	if centre != 0 && centre != 1 {
		c.Unsupported("attribute center_point_box is %d", centre)
	}
	numbers, scores := c.Floats(0), c.Floats(1)
	boxes := make([]box, len(numbers)/4)
	for i := range boxes {
		boxes[i] = boxOf(numbers[4*i:4*i+4], centre == 1)
	}
	var selected []int64
	for batch := range of[0] {
		for class := range of[1] {
			score := scores[(batch*of[1]+class)*of[2]:][:of[2]]
			candidates := upTo(of[2])
			if c.Has(4) {
				least := c.FloatOf(4, 0)
				candidates = slices.DeleteFunc(candidates, func(i int) bool { return !(score[i] > least) })
			}
			slices.SortStableFunc(candidates, func(i, k int) int { return cmp.Compare(score[k], score[i]) })
			var kept []box
			for _, i := range candidates {
				if len(kept) >= most {
					break
				}
				b := boxes[batch*of[2]+i]
				if !slices.ContainsFunc(kept, func(k box) bool { return b.overlap(k) > overlap }) {
					kept = append(kept, b)
					selected = append(selected, int64(batch), int64(class), int64(i))
				}
			}
		}
	}
	return Out(newOfShape(c, selected, []int{len(selected) / 3, 3}))
}

// box is a box from its least to its greatest coordinates.
type box struct{ x0, y0, x1, y1 float32 }

// boxOf returns the box of two opposite corners [y, x, y, x], or of a centre and a size [x, y, width, height].
func boxOf(at []float64, centre bool) box {
	a, b, c, d := float32(at[0]), float32(at[1]), float32(at[2]), float32(at[3])
	if centre {
		return box{a - c/2, b - d/2, a + c/2, b + d/2}
	}
	return box{min(b, d), min(a, c), max(b, d), max(a, c)}
}

func (b box) area() float32 { return max(b.x1-b.x0, 0) * max(b.y1-b.y0, 0) }

// overlap is the area of the intersection of two boxes by that of their union, 0 if they do not meet.
func (b box) overlap(o box) float32 {
	both := box{max(b.x0, o.x0), max(b.y0, o.y0), min(b.x1, o.x1), min(b.y1, o.y1)}.area()
	if both <= 0 {
		return 0
	}
	return both / (b.area() + o.area() - both)
}
