package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "GridSample", Since: 16, Attributes: "align_corners mode padding_mode", Run: gridSample, Shape: gridSampleShape},
		Operator{Name: "AffineGrid", Since: 20, Attributes: "align_corners", Run: affineGrid, Shape: affineGridShape},
	)
}

// The modes of GridSample, the first of which is the default one. Before opset 20 two had other names.
var (
	gridModes    = []string{"linear", "nearest", "cubic", "bilinear", "bicubic"}
	gridMode     = map[string]autograd.GridMode{"nearest": autograd.GridNearest, "cubic": autograd.GridCubic, "bicubic": autograd.GridCubic}
	gridPaddings = map[string]autograd.GridPadding{"border": autograd.GridBorder, "reflection": autograd.GridReflection}
)

// gridSample reads x [images, channels, …] at a grid [images, …, axes], whose numbers are from −1 to 1, the last axis
// first.
func gridSample(c *Call) []*Value {
	x := c.Node(0)
	spatialOf(c, x)
	y := autograd.GridSample(x, c.Node(1), autograd.GridOptions{
		Mode: gridMode[c.oneOf("mode", gridModes...)], Padding: gridPaddings[c.oneOf("padding_mode", "zeros", "border", "reflection")],
		AlignCorners: c.Bool("align_corners", false),
	})
	return Out(like(y, x.Type()))
}

// affineGrid returns what matrices make of the positions of an image of a size.
func affineGrid(c *Call) []*Value {
	size := c.Ints(1)
	axes := len(size) - 2
	if axes < 1 || !slices.Equal(c.Shape(0), []int{size[0], axes, axes + 1}) {
		c.fail(tensor.ErrShape, "matrices %v for a size %v", c.Shape(0), size)
	}
	c.makes(slices.Concat(size[:1], size[2:], []int{axes}))
	return Out(autograd.AffineGrid(floatsOf(c, 0), size[2:], c.Bool("align_corners", false)))
}

func gridSampleShape(c *ShapeCall) []Known {
	x, grid := c.Dims(0), c.Dims(1)
	if len(x) < 3 || len(grid) != len(x) {
		return []Known{{Type: c.Type(0)}}
	}
	return []Known{{Type: c.Type(0), Dims: dimsAlong(x[:2], grid[1:len(grid)-1])}}
}

func affineGridShape(c *ShapeCall) []Known {
	size, ok := c.Ints(1)
	if !ok || len(size) < 3 {
		return []Known{{Type: c.Type(0)}}
	}
	return []Known{{Type: c.Type(0), Dims: dimsAlong(size[:1], size[2:], []Dim{NewDim(len(size) - 2)})}}
}
