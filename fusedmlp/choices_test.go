package fusedmlp

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/selftestargs"
	"github.com/clgrad/clgrad/kernels"
)

// TestMLPTiles: a GPU holds as many samples at once as fit its local memory beside the weights of a
// layer.
func TestMLPTiles(t *testing.T) {
	for _, c := range []struct {
		s           MLPShape
		float       kernels.DType
		most        int
		tile, chunk int
	}{
		{ExampleMLP, kernels.Float32, 16, 16, 32}, {ExampleMLP, kernels.Float32, 32, 32, 32}, {ExampleMLP, kernels.Float64, 32, 16, 16},
		{MLPShape{Inputs: 8, Width: 16, Layers: 1, Outputs: 1}, kernels.Float32, 32, 32, 16}, {MLPShape{Inputs: 256, Width: 128, Layers: 4, Outputs: 16}, kernels.Float32, 32, 0, 0},
		{MLPShape{Inputs: 128, Width: 128, Layers: 3, Outputs: 3}, kernels.Float32, 32, 16, 16},
		{MLPShape{Inputs: 8, Width: 112, Layers: 5, Outputs: 1}, kernels.Float32, 16, 8, 16},
		// 48 KiB to the byte, and 4 bytes more for each sample
		{MLPShape{Inputs: 8, Width: 64, Layers: 4, Outputs: 4}, kernels.Float32, 32, 32, 16}, {MLPShape{Inputs: 8, Width: 64, Layers: 4, Outputs: 5}, kernels.Float32, 32, 16, 32},
		{MLPShape{Inputs: 72, Width: 64, Layers: 3, Outputs: 8}, kernels.Float32, 32, 32, 32}, {MLPShape{Inputs: 72, Width: 64, Layers: 3, Outputs: 9}, kernels.Float32, 32, 32, 16},
	} {
		tile := c.s.tile(c.float, c.most)
		chunk := 0
		if tile > 0 {
			chunk = c.s.chunk(tile, c.float)
		}
		if tile != c.tile || chunk != c.chunk {
			t.Errorf("%+v of %v: tiles of %d, %d rows at once, want %d and %d", c.s, c.float, tile, chunk, c.tile, c.chunk)
		}
	}
}

// TestMLPChoices: how a step is shared out, and which shapes it takes.
func TestMLPChoices(t *testing.T) {
	s := ExampleMLP
	gpu, cpu := kernels.Target{Units: 10, LocalMem: 48 << 10, MaxGroup: 1024}, kernels.Target{CPU: true, Units: 10}
	for _, c := range []struct {
		n      int
		l      kernels.Target
		block  int
		groups int
	}{
		{1, gpu, 8, 1}, {159, gpu, 8, 20}, {160, gpu, 16, 10}, {161, gpu, 16, 11}, {1279, gpu, 16, 60}, {1280, gpu, 32, 40}, {100000, gpu, 32, 40},
		{1, cpu, 16, 1}, {33, cpu, 16, 3}, {100000, cpu, 16, 10}, {0, cpu, 16, 1},
	} {
		block := s.Block(c.n, kernels.Float32, c.l)
		if groups := s.Groups(c.n, block, c.l); block != c.block || groups != c.groups {
			t.Errorf("%d samples, CPU %v: %d groups of blocks of %d, want %d of %d", c.n, c.l.CPU, groups, block, c.groups, c.block)
		}
	}
	if got := s.Size(); got != 64*64+128+64*64+128+64*64+128+256 {
		t.Errorf("%d parameters", got)
	}
	with := func(f func(s *MLPShape)) MLPShape { s := s; f(&s); return s }
	for _, c := range []struct {
		name string
		s    MLPShape
		l    kernels.Target
		ok   bool
	}{
		{"example", s, gpu, true}, {"least memory", s, kernels.Target{LocalMem: mlpLocal}, true}, {"too little memory", s, kernels.Target{LocalMem: mlpLocal - 1}, false}, {"a CPU needs none", s, cpu, true},
		{"narrowest", with(func(s *MLPShape) { s.Width = 16 }), gpu, true}, {"no width", with(func(s *MLPShape) { s.Width = 0 }), gpu, false},
		{"widest", with(func(s *MLPShape) { s.Width = 128 }), gpu, true}, {"too wide", with(func(s *MLPShape) { s.Width = 144 }), gpu, false}, {"odd width", with(func(s *MLPShape) { s.Width = 24 }), gpu, false},
		{"fewest inputs", with(func(s *MLPShape) { s.Inputs = 8 }), gpu, true}, {"too few inputs", with(func(s *MLPShape) { s.Inputs = 4 }), gpu, false}, {"odd inputs", with(func(s *MLPShape) { s.Inputs = 10 }), gpu, false},
		{"most inputs", with(func(s *MLPShape) { s.Inputs, s.Width, s.Layers = 256, 16, 1 }), gpu, true}, {"too many inputs", with(func(s *MLPShape) { s.Inputs, s.Width, s.Layers = 260, 16, 1 }), gpu, false},
		{"one output", with(func(s *MLPShape) { s.Outputs = 1 }), gpu, true}, {"no output", with(func(s *MLPShape) { s.Outputs = 0 }), gpu, false},
		{"most outputs", with(func(s *MLPShape) { s.Outputs = 16 }), gpu, true}, {"too many outputs", with(func(s *MLPShape) { s.Outputs = 17 }), gpu, false},
		{"one layer", with(func(s *MLPShape) { s.Layers = 1 }), gpu, true}, {"no layer", with(func(s *MLPShape) { s.Layers = 0 }), gpu, false}, {"too many layers", with(func(s *MLPShape) { s.Layers = 50 }), gpu, false},
		{"no slope", with(func(s *MLPShape) { s.Slope = 0 }), gpu, true}, {"a slope downwards", with(func(s *MLPShape) { s.Slope = -0.1 }), gpu, false}, {"a slope that is no number", with(func(s *MLPShape) { s.Slope = math.NaN() }), gpu, false},
	} {
		if err := c.s.Check(kernels.Float32, c.l); (err == nil) != c.ok {
			t.Errorf("%s: err = %v", c.name, err)
		}
	}
}

// TestWorthLoading: a pass makes its operands itself on a GPU of which each unit has few samples.
func TestWorthLoading(t *testing.T) {
	for _, c := range []struct {
		n    int
		l    kernels.Target
		want bool
	}{{159, kernels.Target{Units: 10}, true}, {160, kernels.Target{Units: 10}, false}, {1, kernels.Target{CPU: true, Units: 10}, false}} {
		for i, load := range stepLoads(4, 3) {
			args := []kernels.Arg{6: kernels.IntArg(c.n)}
			rows, columns := load.Size(args)
			if load.Worth(args, c.l) != c.want || load.Operand != i || rows != c.n || columns != []int{4, 3}[i] {
				t.Errorf("%d samples, CPU %v: operand %d [%d, %d], worth it %v", c.n, c.l.CPU, load.Operand, rows, columns, load.Worth(args, c.l))
			}
		}
	}
}

// TestCasesOfSteps: a pass is tested in one group and in several, with blocks that are full and
// not; few of them are small.
func TestCasesOfSteps(t *testing.T) {
	for _, few := range []bool{false, true} {
		var samples, groups []int
		for _, c := range ExampleMLP.cases(few, true) {
			o := kernels.NewOperands(kernels.Float32, 1, 1)
			c.Build(o)
			samples, groups = append(samples, int(o.Args[6].Int)), append(groups, o.Args[4].N)
			if n := samples[len(samples)-1]; o.Args[0].N != n*64 || o.Args[1].N != n*3 || o.Args[3].N != groups[len(groups)-1]*ExampleMLP.Size() || o.Args[5].N != n*64 {
				t.Errorf("%s: operands of other sizes", c.Name)
			}
		}
		if slices.Min(samples) != 1 || slices.Max(groups) < 2 || slices.Max(samples) > 100 == few {
			t.Errorf("few %v: %v samples in %v groups", few, samples, groups)
		}
	}
}

// TestStepOfAnySize: the operands made for a fused training step are those of a launch, also where
// the pass is so large that they have fewer samples.
func TestStepOfAnySize(t *testing.T) {
	gpu := kernels.Target{Units: 132, MaxGroup: 1024, LocalMem: 48 << 10}
	s := ExampleMLP
	s.Width, s.Inputs = 64, 64
	for _, n := range []int{1, 33, 4096, 65536, 1 << 18} {
		for _, inputGrad := range []bool{false, true} {
			block := s.Block(n, kernels.Float32, gpu)
			groups := s.Groups(n, block, gpu)
			k := MLPLoss(s, kernels.Float32, block, inputGrad)
			args := []kernels.Arg{
				kernels.BufferArg(nil, 0, n*s.Inputs), kernels.BufferArg(nil, 0, n*s.Outputs), kernels.BufferArg(nil, 0, s.Size()),
				kernels.BufferArg(nil, 0, groups*s.Size()), kernels.BufferArg(nil, 0, groups), kernels.BufferArg(nil, 0, 0), kernels.IntArg(n),
			}
			t.Run(fmt.Sprintf("%d samples, %d groups, %t", n, groups, inputGrad), func(t *testing.T) {
				o, err := selftestargs.Like(k, args, kernels.Float32)
				if err != nil {
					t.Fatal(err)
				}
				k.Run(kernels.Float32, o.Args)
				samples, shares := int(o.Args[6].Int), o.Args[4].N
				if samples < 1 || samples > n || shares < 1 || shares > groups || shares > 1 && shares > (samples+block-1)/block {
					t.Errorf("%d samples in %d groups of blocks of %d", samples, shares, block)
				}
			})
		}
	}
}

// TestSmallOfAnyShape: a kernel that is built for a shape is tried with operands of that shape.
func TestSmallOfAnyShape(t *testing.T) {
	s := MLPShape{Inputs: 8, Width: 16, Layers: 2, Outputs: 5, Slope: 0.1}
	for _, inputGrad := range []bool{false, true} {
		k := MLPLoss(s, kernels.Float32, 16, inputGrad)
		small, err := selftestargs.Small(k, kernels.Float32)
		if err != nil || len(small) == 0 {
			t.Fatalf("%d launches, %v", len(small), err)
		}
		for _, o := range small {
			if n := int(o.Args[6].Int); o.Args[2].N != s.Size() || o.Args[0].N != n*s.Inputs || (o.Args[5].N == n*s.Inputs) != inputGrad {
				t.Errorf("%d samples, %d parameters, %d inputs, %d of their gradient", n, o.Args[2].N, o.Args[0].N, o.Args[5].N)
			}
			k.Run(kernels.Float32, o.Args)
		}
	}
}

// TestScales: the magnitude on which a tolerance is a share bounds what meets in the sums of a
// launch, worked out here by hand. Too small a one refuses a device that is right, too large a one
// lets wrong results pass.
func TestScales(t *testing.T) {
	floats := func(vs ...float64) kernels.Arg { return kernels.BufferArg(kernels.HostBufferOf(vs), 0, len(vs)) }
	args := func(vecs []kernels.Arg, n int) []kernels.Arg { return append(vecs, kernels.IntArg(n)) }
	none := floats()
	shape := MLPShape{Inputs: 8, Width: 16, Layers: 2, Outputs: 1, Slope: 3}
	for _, c := range []struct {
		name string
		k    *kernels.Kernel
		args []kernels.Arg
		want float64
	}{
		{"pass", MLPLoss(shape, kernels.Float32, 16, false), args([]kernels.Arg{floats(-2), floats(3), floats(0.5), none, none, none}, 10), 10 * 2 * 3 * 1 * 16 * 9},
		{"pass of small numbers", MLPLoss(shape, kernels.Float32, 16, false), args([]kernels.Arg{floats(0.5), floats(0.5), floats(7), none, none, none}, 10), 10 * 7 * 16 * 9},
	} {
		if got := c.k.Tol.Scale(c.args); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestGrid: each group of samples has a work-item on a CPU, and a work-group elsewhere.
func TestGrid(t *testing.T) {
	v := func(n int) kernels.Arg { return kernels.BufferArg(nil, 0, n) }
	args := []kernels.Arg{v(0), v(0), v(0), v(0), v(5), v(0), kernels.IntArg(80)}
	k := MLPLoss(ExampleMLP, kernels.Float32, 16, false)
	for l, want := range map[kernels.Target]kernels.Grid{
		{CPU: true, Units: 3}: {Dims: 1, Global: [3]int{5}, Local: [3]int{1}},
		{Units: 10}:           {Dims: 1, Global: [3]int{5 * 128}, Local: [3]int{128}},
	} {
		if got := k.Grid(args, l); got != want {
			t.Errorf("CPU %v: %+v, want %+v", l.CPU, got, want)
		}
	}
}

// TestTrials: the operands of a trial are those of a launch like the one that is meant, with fewer
// samples where that is large.
func TestTrials(t *testing.T) {
	s := ExampleMLP // of 12928 parameters
	loss, down := MLPLoss(s, kernels.Float32, 16, false), MLPLoss(s, kernels.Float32, 16, true)
	samples := func(n, groups, dx int) []kernels.Arg {
		v := func(n int) kernels.Arg { return kernels.BufferArg(nil, 0, n) }
		return []kernels.Arg{v(n * 64), v(n * 3), v(12928), v(groups * 12928), v(groups), v(dx), kernels.IntArg(n)}
	}
	for _, c := range []struct {
		name string
		k    *kernels.Kernel
		like []kernels.Arg
		want string
	}{
		{"a step", loss, samples(100, 7, 0), "[6400 300 12928 90496 7 0 100]"},
		{"a step down to the inputs", down, samples(100, 7, 6400), "[6400 300 12928 90496 7 6400 100]"},
		{"more groups than blocks", loss, samples(33, 7, 0), "[2112 99 12928 38784 3 0 33]"},
		{"a large step", loss, samples(20000, 60, 0), fmt.Sprintf("[%d %d 12928 %d 60 0 10381]", 10381*64, 10381*3, 60*12928)},
		{"no step", loss, nil, "[]"},
	} {
		var got []int
		for i, o := range c.k.SelfTest(c.like) {
			if got = append(got, o.N); !c.k.Params[i].Mode.Buffer() {
				got[i] = int(o.Number)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}
