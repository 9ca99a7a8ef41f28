package ops

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/vec"
)

// TestGather: what loops gather is what plain ones do, forward and transposed, for windows that
// reach beyond the edges or past the whole image, strides, dilations, and blocks of positions that
// begin and end within rows; images come in turn.
func TestGather(t *testing.T) {
	loops := []*vec.Loops[float32]{new(vec.Loops[float32])} // which copies rows without vectors
	for _, set := range vec.Sets() {
		loops = append(loops, vec.On[float32](set))
	}
	rng := rand.New(rand.NewPCG(81, 82))
	one := func(list ...int) int { return list[rng.IntN(len(list))] }
	for try := range 100 {
		s := ConvShape{Batch: 3, Groups: 1, In: one(1, 2, 5), Out: one(1, 3)}
		for a := range 3 {
			s.Size[a], s.Kernel[a] = one(1, 2, 5, 9, 20), one(1, 2, 3, 5)
			s.Stride[a], s.Dilation[a], s.Pad[a] = one(1, 1, 2, 3), one(1, 1, 2), one(0, 1, 2, 30)
			if a == 0 && try%2 == 0 {
				s.Size[a], s.Kernel[a], s.Pad[a] = 1, 1, 0
			}
			s.OutSize[a] = (s.Size[a]+2*s.Pad[a]-s.Dilation[a]*(s.Kernel[a]-1)-1)/s.Stride[a] + 1
		}
		if slices.Min(s.OutSize[:]) < 1 || s.Size[0]+2*s.Pad[0] < s.Dilation[0]*(s.Kernel[0]-1)+1 {
			continue
		}
		for _, transposed := range []bool{false, true} {
			read, from := s.In, s.Size
			if transposed {
				read, from = s.Out, s.OutSize
			}
			images := make([]float32, s.Batch*read*volume(from))
			for i := range images {
				images[i] = float32(i + 1)
			}
			for i, l := range loops {
				var b buffers[float32]
				for phase := range s.phases(transposed) {
					z, y, x := s.axes(transposed, phase)
					positions, taps := z.count*y.count*x.count, z.taps*y.taps*x.taps
					b.edged.image = none
					for image := range s.Batch {
						in := images[image*read*volume(from):][:read*volume(from)]
						for first := 0; first < positions; {
							count := min(1+rng.IntN(2*x.count+20), positions-first)
							want := make([]float32, read*taps*count)
							gather(want, in, read, from, z, y, x, first, count)
							b.panel = grown(b.panel, len(want))
							for j := range b.panel {
								b.panel[j] = -1
							}
							b.gather(l, in, image, read, from, z, y, x, first, count)
							if !slices.Equal(b.panel, want) {
								t.Fatalf("loops %d, %+v, transposed %v, phase %d, image %d, positions %d to %d:\n%v, want\n%v",
									i, s, transposed, phase, image, first, first+count, b.panel, want)
							}
							first += count
						}
					}
				}
			}
		}
	}
}

// TestWholeRows: blocks are whole rows where products of those have hardly a rest, and never more
// than may be.
func TestWholeRows(t *testing.T) {
	for _, c := range [][3]int{{163, 14, 112}, {1024, 28, 896}, {163, 13, 104}, {163, 32, 160}, {163, 1000, 160}, {20, 14, 20}, {1, 1, 1}, {60, 7, 56}} {
		if got := wholeRows(c[0], c[1]); got != c[2] {
			t.Errorf("at most %d in rows of %d: %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
