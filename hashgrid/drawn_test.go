package hashgrid

import (
	"errors"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// TestEncodeDrawn: the pixels are those of the stream's words, and features and gradient are those
// of an encoding of their centres, for every number of features and of channels, and for as few
// samples and levels that some have no work-item.
func TestEncodeDrawn(t *testing.T) {
	each(t, true, func(t *testing.T, d tensor.Device) {
		const width, height = 16, 8
		rng := tensor.NewRNG(12)
		for _, c := range []struct{ features, channels, n, levels int }{{4, 3, 301, 3}, {2, 1, 64, 3}, {3, 4, 7, 1}, {1, 6, 5, 1}, {8, 3, 1, 2}, {4, 3, 0, 3}} {
			g := New(d, levels[:c.levels], c.features)
			image := rng.Uniform(d, 0, 1, c.channels, width*height).T() // with gaps
			table := autograd.Param(rng.Uniform(d, -1, 1, g.Entries, c.features), "table")
			up := rng.Uniform(d, -1, 1, c.n, c.levels*c.features)
			features, centres, colours := g.EncodeDrawn(table, image, rng, c.n, width, height)
			lo, hi, call := (&tensor.RNG{Seed: rng.Seed, Calls: rng.Calls - 1}).Next()
			of, pixels := devtest.Float64s(t, image), devtest.Float64s(t, colours)
			at := devtest.Float64s(t, centres.Value())
			for i := range c.n {
				words := expr.Philox([4]uint32{uint32(i / 4), uint32(call.Int)}, [2]uint32{uint32(lo.Int), uint32(hi.Int)})
				pixel, _ := bits.Mul32(words[i%4], width*height)
				if x, y := (float64(pixel%width)+0.5)/width, (float64(pixel/width)+0.5)/height; at[2*i] != x || at[2*i+1] != y {
					t.Fatalf("%+v: sample %d is at %v, %v: pixel %d is at %v, %v", c, i, at[2*i], at[2*i+1], pixel, x, y)
				}
				if got, want := pixels[i*c.channels:][:c.channels], of[int(pixel)*c.channels:][:c.channels]; !slices.Equal(got, want) {
					t.Fatalf("%+v: sample %d is %v, its pixel %v", c, i, got, want)
				}
			}
			same := g.Encode(table, centres)
			if !slices.Equal(devtest.Float64s(t, features.Value()), devtest.Float64s(t, same.Value())) {
				t.Errorf("%+v: drawn pixels are encoded otherwise than their centres", c)
			}
			var gradients [2][]float64
			for i, y := range []*autograd.Node{features, same} {
				if err := y.Backward(autograd.BackwardOptions{Seed: up}); err != nil {
					t.Fatal(err)
				}
				gradients[i] = devtest.Float64s(t, table.Grad())
				table.ZeroGrad()
			}
			if !slices.Equal(gradients[0], gradients[1]) {
				t.Errorf("%+v: drawn pixels have another gradient than their centres", c)
			}
			g.Free()
		}
	})
}

// TestEncodeDrawnMisuse: each is a *tensor.Error of its kind that says what is wrong, and draws
// nothing.
func TestEncodeDrawnMisuse(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	g := New(d, levels, 2)
	defer g.Free()
	rng := tensor.NewRNG(13)
	table, image := autograd.Param(tensor.Zeros(d, g.Entries, 2), "table"), tensor.Zeros(d, 12, 3)
	for name, c := range map[string]struct {
		kind             error
		say              string
		table            *autograd.Node
		image            *tensor.Tensor
		n, width, height int
	}{
		"negative":        {tensor.ErrValue, "-1 pixels are to be drawn", table, image, -1, 4, 3},
		"another size":    {tensor.ErrShape, "the image has 5×3 pixels", table, image, 2, 5, 3},
		"no size":         {tensor.ErrShape, "0×3 pixels", table, image, 2, 0, 3},
		"too large":       {tensor.ErrShape, "65536×65536 pixels", table, image, 2, 1 << 16, 1 << 16},
		"an image's rank": {tensor.ErrShape, "[12 3 1]", table, image.Reshape(12, 3, 1), 2, 4, 3},
		"image elsewhere": {tensor.ErrDevice, ", the grid on cpu", table, tensor.Zeros(other, 12, 3), 2, 4, 3},
		"another table":   {tensor.ErrShape, "[174 2]", autograd.Param(tensor.Zeros(d, g.Entries, 3), "table"), image, 2, 4, 3},
	} {
		err := tensor.Try(func() { g.EncodeDrawn(c.table, c.image, rng, c.n, c.width, c.height) })
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want %v that says %q", name, err, c.kind, c.say)
		}
	}
	if rng.Calls != 0 {
		t.Errorf("misuse has drawn %d times", rng.Calls)
	}
}
