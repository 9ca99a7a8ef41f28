package imagefit

import (
	_ "embed"
	"fmt"
	"math/bits"
	"slices"

	"github.com/clgrad/clgrad/fusedmlp"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/replay/fusion"
)

//go:embed sample_lookup.cl
var sampleLookupText string

//go:embed encode_lines.cl
var encodeLinesText string

// The fusion for a picture that is trained on a device with matrix units: the features of a drawn
// pixel are those of its column and of its row, of which a picture has few. So the batch that is drawn
// says where these lie in a table, which is made when the step is recorded, and the fused step reads
// them there: see [fusedmlp.TableIndexed]. Its name has it look for launches that fused-training-step
// has made.
//
// It is refused where the table is more than half as large as the features, or larger than tableBytes.
func init() {
	fusion.Register(fusion.Fusion{Name: "lookup", Match: matchLookup,
		Doc: "looks the features of drawn pixels up in a table of those of columns and rows, in a fused step on matrix units"})
}

const tableBytes = 16 << 20

func matchLookup(s fusion.Step) (matches []fusion.Match) {
	const features = 1
	for i, draw := range s.Launches() {
		if draw.Kernel != sampleEncode {
			continue
		}
		for _, j := range s.Readers(i, draw.Args[features]) {
			step := s.Launches()[j]
			form, parts := fusedmlp.TableIndexed(step.Kernel)
			x := draw.Args[features]
			if at := step.Args[0]; form == nil || parts != 2 || at.Buf != x.Buf || at.Off != x.Off || at.N != x.N ||
				s.Writer(j, x) != i {
				continue
			}
			rows, width, height, octaves := int(draw.Args[3].Int), draw.Args[4], draw.Args[5], draw.Args[7]
			size := 2 * int(width.Int+height.Int) * int(octaves.Int)
			if 2*size > x.N || size*x.Buf.DType().Size() > tableBytes {
				s.Refuse(fmt.Errorf("%w: the table of the features of columns and rows is too large", fusion.ErrWorth))
				continue
			}
			at, table := s.New(kernels.Int32, rows*parts), s.New(x.Buf.DType(), size)
			where, read := slices.Clone(draw.Args), append(slices.Clone(step.Args), table)
			where[features], read[0] = at, at
			matches = append(matches, fusion.Match{Name: "features of drawn pixels", Covers: []int{i, j}, Tested: true,
				Done: fmt.Sprintf("looks up what %s makes in a table of %d", s.Name(i), size),
				Launches: []fusion.Launch{
					{Kernel: encodeLines, Args: []kernels.Arg{table, width, height, octaves}, Does: []int{i}, Once: true},
					{Kernel: sampleLookup, Args: where, Does: []int{i}},
					{Kernel: form, Args: read, Does: []int{j}},
				}})
		}
	}
	return matches
}

// sampleLookup is sampleEncode, but for F: it writes where the features lie in the table that
// encodeLines makes, AT [n, 2].
var sampleLookup = &kernels.Kernel{Name: "k_sample_lookup", Text: sampleLookupText, File: "sample_lookup.cl",
	Params: func() []kernels.Param {
		params := slices.Clone(sampleEncode.Params)
		params[1] = kernels.Param{Name: "AT", Mode: kernels.OutInts}
		return params
	}(),
	Grid: kernels.GridFromArg(3), Semantics: sampleLookupSemantics,
	Host:    kernels.HostKernel{F32: sampleLookupHost[float32], F64: sampleLookupHost[float64]},
	Fusions: fused.Fusions{Batch: &fused.BatchSpec{Function: "sample_lookup"}},
	Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) {
		o.In(7*13*3, 0, 1).Ints(2*n, func(int) int { return -1 }).Out(3*n).Int(n, 7, 13, 3, 5, 12345, -7, 3)
	})}

// Where the column and the row of a drawn pixel begin in the table, as functions of the scalars of
// a draw and of the octaves.
var (
	drawnLine  = expr.IntParam(5).Mul(expr.Const(2))
	drawnLines = func() *kernels.FusedElementwise {
		j := join("drawn_lines", append(drawnForTests, 3), unit, drawn.Rem(drawnOf).Mul(drawnLine).Float(),
			drawnOf.Add(drawn.Quo(drawnOf)).Mul(drawnLine).Float())
		for _, f := range j.Functions {
			f.Integers = true
		}
		return j
	}()
)

func sampleLookupSemantics(a []kernels.Arg) []kernels.Op {
	scalars := drawnScalars(operation.ArgScalar(7))
	lines := &operation.Map{Dims: []int{int(a[3].Int)}, ExactRounding: true}
	for k, f := range drawnLines.Functions {
		lines.Results = append(lines.Results, operation.Result{Function: f, Scalars: scalars,
			View: kernels.ViewOf(a, 1, k, 2)})
	}
	return []kernels.Op{lines, drawnColoursOf(a)}
}

func sampleLookupHost[T kernels.Float](c kernels.HostArgs[T]) {
	image, at, colours := c.Floats(0), c.Ints(1), c.Floats(2)
	n, width, height, channels, octaves := c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Int(7)
	key, call := [2]uint32{uint32(c.Int(8)), uint32(c.Int(9))}, uint32(c.Int(10))
	c.Parallel(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			word := expr.Philox([4]uint32{uint32(i / 4), call}, key)[i%4]
			drawn, _ := bits.Mul32(word, uint32(width*height))
			pixel := int(drawn)
			at[2*i], at[2*i+1] = int32(2*octaves*(pixel%width)), int32(2*octaves*(width+pixel/width))
			copy(colours[i*channels:(i+1)*channels], image[pixel*channels:])
		}
	})
}

// encodeLines makes the table: TABLE [width + height, octaves, 2], width, height, octaves.
var encodeLines = &kernels.Kernel{Name: "k_encode_lines", Text: encodeLinesText,
	Params: []kernels.Param{{Name: "TABLE", Mode: kernels.Out}, {Name: "width", Mode: kernels.IntParam}, {Name: "height", Mode: kernels.IntParam},
		{Name: "octaves", Mode: kernels.IntParam}},
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid { return kernels.Grid1D(a[0].N/2, l) },
	Host: kernels.HostKernel{F32: encodeLinesHost[float32], F64: encodeLinesHost[float64]},
	Tol:  kernels.Tolerance{ULP: 4, Rel: 4, Scale: func([]kernels.Arg) float64 { return 1 }}, // that of sampleEncode
	Cases: func(few bool) []kernels.Case {
		var cases []kernels.Case
		for _, size := range [][3]int{{1, 1, 1}, {8, 16, 16}, {64, 2, 20}} { // powers of two, as those of sampleEncode
			cases = append(cases, kernels.Case{Name: fmt.Sprint(size), Build: func(o *kernels.Operands) {
				o.Out(2 * (size[0] + size[1]) * size[2]).Int(size[:]...)
			}})
		}
		return cases
	}}

func encodeLinesHost[T kernels.Float](c kernels.HostArgs[T]) {
	table, width, height, octaves := c.Floats(0), c.Int(1), c.Int(2), c.Int(3)
	at := func(line int) T {
		if line < width {
			return (T(line) + 0.5) / T(width)
		}
		return (T(line-width) + 0.5) / T(height)
	}
	of := func(line int) []T { return table[2*line*octaves : 2*(line+1)*octaves] }
	lines := width + height
	for line := 0; line < lines; line += 4 { // the last ones maybe several times
		var out [4][]T
		var ats [4]T
		for k := range out {
			l := min(line+k, lines-1)
			out[k], ats[k] = of(l), at(l)
		}
		encodeCoordinates(out, ats)
	}
}
