package onnx

import (
	"math"
	"testing"
)

func TestRegions(t *testing.T) {
	checkNodes(t, []nodeCase{
		{"RoiAlign", 10, attrs{"output_height": 2, "output_width": 2}, []any{ramp(2, 1, 4, 4), of([]float32{0, 0, 3, 3, 1,
			0.5, 2.5, 2}, 2, 4), []int64{0, 1}}, []any{rounded([]float64{-0.23047, 0.36426, 0.042969, -0.017578, -0.46875,
			-0.91797, 0.3125, -0.30859}, 2, 1, 2, 2)}, ""},
		{"RoiAlign", 16, attrs{"output_height": 2, "output_width": 1, "sampling_ratio": 2, "spatial_scale": 0.75},
			[]any{ramp(2, 1, 4, 4), of([]float32{0, 0, 3, 3, 1, 0.5, 2.5, 2}, 2, 4), []int64{1, 1}},
			[]any{rounded([]float64{0.092651, 0.17261, 0.44836, 0.10779}, 2, 1, 2, 1)}, ""},
		{"RoiAlign", 16, attrs{"output_height": 1, "output_width": 2, "mode": "max",
			"coordinate_transformation_mode": "output_half_pixel"}, []any{ramp(2, 1, 4, 4), of([]float32{0, 0, 3, 3, 1, 0.5,
			2.5, 2}, 2, 4), []int64{1, 0}}, []any{rounded([]float64{0.54688, 0.23438, 0.32812, 0.76562}, 2, 1, 1, 2)}, ""},
		{"MaxRoiPool", 1, attrs{"pooled_shape": []int{2, 3}, "spatial_scale": 0.9}, []any{ramp(2, 1, 4, 4), of([]float32{0,
			0, 0, 3, 3, 1, 1, 0.6, 2.5, 2}, 2, 5)}, []any{rounded([]float64{0.5, 1, 1.25, 0.75, 1.25, 1.25, -0.25, -0.25,
			-1.25, 1.25, 1.25, 0.25}, 2, 1, 2, 3)}, ""},
	})
}

func TestRegionEdges(t *testing.T) {
	x, nan, zero := ramp(2, 1, 4, 4), float32(math.NaN()), of([]float32{0}, 1, 1, 1, 1)
	region := func(v ...float32) any { return of(v, 1, len(v)) }
	one := attrs{"pooled_shape": []int{1, 1}}
	checkNodes(t, []nodeCase{
		{"RoiAlign", 16, attrs{"output_height": 2}, []any{x, of([]float32{}, 0, 4), []int64{}}, []any{of([]float32{}, 0, 1,
			2, 1)}, ""},
		{"RoiAlign", 16, nil, []any{x, region(3, 3, 1, 1), []int64{0}}, []any{zero}, ""},
		{"RoiAlign", 16, nil, []any{x, region(90, 90, 91, 91), []int64{0}}, []any{zero}, ""},
		{"MaxRoiPool", 1, one, []any{x, region(0, 90, 90, 91, 91)}, []any{zero}, ""},
		{"RoiAlign", 16, nil, []any{x, region(0, 0, 1, 1), []int64{2}}, nil, "image 2"},
		{"RoiAlign", 16, nil, []any{x, region(0, 0, 1, 1), []int64{0, 0}}, nil, "regions"},
		{"RoiAlign", 16, nil, []any{x, region(0, 0, 1), []int64{0}}, nil, "regions"},
		{"RoiAlign", 16, nil, []any{x, region(0, 0, nan, 1), []int64{0}}, nil, "region 0"},
		{"RoiAlign", 16, nil, []any{x, region(0, 0, 1e8, 1e8), []int64{0}}, nil, "samples"},
		{"RoiAlign", 16, attrs{"output_height": 0}, []any{x, region(0, 0, 1, 1), []int64{0}}, nil, "output"},
		{"RoiAlign", 16, attrs{"mode": "min"}, []any{x, region(0, 0, 1, 1), []int64{0}}, nil, "mode"},
		{"MaxRoiPool", 1, one, []any{x, region(-1, 0, 0, 1, 1)}, nil, "image -1"},
		{"MaxRoiPool", 1, nil, []any{x, region(0, 0, 0, 1, 1)}, nil, "pooled_shape"},
	})
}
