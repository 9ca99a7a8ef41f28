package fusedmlp

import (
	"cmp"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/compare"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// TestKernels holds the kernels to their host kernels. Those on matrix units are built by GPUs with the
// units alone: elsewhere each file runs by ordinary arithmetic, once where tests are short.
func TestKernels(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	devtest.Optimize(t)
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		few := testing.Short() || d.DefaultType() == tensor.Float64 && !devtest.Sweep()
		seen := map[string]bool{}
		for _, k := range Kernels(d.DefaultType(), d.Target()) {
			if testing.Short() && strings.Contains(k.Defines, "-DINNER=") && seen[k.File] {
				continue
			}
			seen[k.File] = true
			if err := kerneltest.All(d, few, k); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestSourcesBuildAlone: the files have a default for every shape, with which an edited one can be
// tried in other tools.
func TestSourcesBuildAlone(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		k := *MLPLoss(ExampleMLP, d.DefaultType(), mlpBlock, false)
		k.Defines = ""
		if err := kerneltest.All(d, true, &k); err != nil {
			t.Error(err)
		}
	})
}

var entryPoint = regexp.MustCompile(`(?s)kernel\s+(?:__attribute__\(\(.*?\)\)\)\s+)?void (k_\w+)\((.*?)\)\s*\{`)

// TestParamsMatchSources holds the parameters of each kernel against those of its entry point, in
// name, kind and order, and every entry point against Kernels.
func TestParamsMatchSources(t *testing.T) {
	files, err := sources.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]string{}
	for _, f := range files {
		text, err := sources.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range entryPoint.FindAllStringSubmatch(string(text), -1) {
			entries[f.Name()+" "+m[1]] = strings.TrimSuffix(m[2], " GET_PARAMS")
		}
	}
	macros := map[kernels.Mode]string{kernels.In: "IN(%)", kernels.Out: "OUT(%)", kernels.InOut: "OUT(%)", kernels.InInts: "IN_INTS(%)",
		kernels.OutInts: "OUT_INTS(%)", kernels.IntParam: "int %"}
	used := map[string]bool{}
	for _, l := range []kernels.Target{{CPU: true}, {}} {
		for _, k := range Kernels(kernels.Float32, l) {
			var params []string
			for _, p := range k.Params {
				params = append(params, strings.Replace(macros[p.Mode], "%", p.Name, 1))
			}
			entry := k.Source(l) + " " + k.Name
			if used[entry] = true; entries[entry] != strings.Join(params, ", ") {
				t.Errorf("%s has the parameters\n%s\nits kernel has\n%s", entry, entries[entry], strings.Join(params, ", "))
			}
		}
	}
	for entry := range entries {
		if !used[entry] {
			t.Errorf("entry point %s has no kernel", entry)
		}
	}
}

// TestOpaque: a fused step describes itself by no operations: what it joins, replay has found
// before.
func TestOpaque(t *testing.T) {
	p := ofWidth(2, 16)
	for _, k := range append(Kernels(kernels.Float32, kernels.Target{Units: 9, MaxGroup: 1024, LocalMem: 48 << 10}), p.Loss(kernels.Float32, 8, false)) {
		if k.Semantics != nil {
			t.Errorf("%s describes itself", k.Name)
		}
	}
}

// TestDefinition: the host kernel computes what the definition does, for both losses, with the gradient of
// the inputs and without.
func TestDefinition(t *testing.T) {
	small := MLPShape{Inputs: 8, Width: 16, Layers: 2, Outputs: 5, Slope: 0.25}
	for i, s := range []MLPShape{small, small, {Inputs: 20, Width: 32, Layers: 1, Outputs: 16, Slope: 0}, {Inputs: 8, Width: 16, Layers: 3, Outputs: 1, Slope: 0.5}} {
		s.Absolute = i == 1
		for _, float := range []kernels.DType{kernels.Float32, kernels.Float64} {
			k := MLPLoss(s, float, 16, i%2 == 0)
			for _, c := range k.Cases(false) {
				o := kernels.NewOperands(float, 5, 6)
				c.Build(o)
				mem := make([][]float64, len(o.Args))
				for a, arg := range o.Args {
					for j := range arg.N {
						mem[a] = append(mem[a], arg.At(j))
					}
				}
				margin := compare.MarginOf(k, float, o.Args)
				define(s, 16, i%2 == 0, mem, int(o.Args[6].Int))
				k.Run(float, o.Args)
				for a, arg := range o.Args[:6] {
					got, want := kernels.NewHostBuffer(float, arg.N), kernels.NewHostBuffer(float, arg.N)
					for j, v := range mem[a] {
						got.Set(j, arg.At(j))
						want.Set(j, v)
					}
					if j := margin.Differs(a, got, want); j >= 0 {
						t.Fatalf("%+v of %v, %s: %s[%d] = %v, want %v", s, float, c.Name, k.Params[a].Name, j, got.At(j), want.At(j))
					}
				}
			}
		}
	}
}

// define is the definition of a fused training step of a perceptron in blocks of samples: each
// group of blocks has a share of the gradient and of the loss. Parameters stand as matrices [in,
// out] and biases, each aligned to 128 elements.
func define(s MLPShape, block int, inputGrad bool, mem [][]float64, n int) {
	row := func(v []float64, at, n int) []float64 { return v[at : at+n] }
	x, target, w, part, loss, dx := mem[0], mem[1], mem[2], mem[3], mem[4], mem[5]
	align := func(n int) int { return (n + 127) / 128 * 128 }
	var weights, biases []int // where those of each layer start
	at, fan := 0, s.Inputs
	for range s.Layers {
		weights, biases = append(weights, at), append(biases, at+align(fan*s.Width))
		at, fan = at+align(fan*s.Width)+align(s.Width), s.Width
	}
	weights = append(weights, at)
	size := at + align(s.Width*s.Outputs)
	blocks, groups := (n+block-1)/block, len(loss)
	clear(loss)
	written := func(share []float64) { // all but the paddings
		for l := range weights {
			rows, cols := s.Width, s.Width
			if l == 0 {
				rows = s.Inputs
			}
			if l == s.Layers {
				cols = s.Outputs
			} else {
				clear(row(share, biases[l], cols))
			}
			clear(row(share, weights[l], rows*cols))
		}
	}
	for g := range groups {
		share := row(part, g*size, size)
		written(share)
		for r := blocks * g / groups * block; r < min(blocks*(g+1)/groups*block, n); r++ {
			h := [][]float64{row(x, r*s.Inputs, s.Inputs)}
			for l := range s.Layers {
				next := make([]float64, s.Width)
				for j := range next {
					next[j] = w[biases[l]+j]
					for k, v := range h[l] {
						next[j] += v * w[weights[l]+k*s.Width+j]
					}
					next[j] = max(next[j], 0) + s.Slope*min(next[j], 0)
				}
				h = append(h, next)
			}
			top := h[s.Layers]
			d := make([]float64, s.Outputs) // the gradient of what a layer puts out before its activation
			for o := range d {
				for k, v := range top {
					d[o] += v * w[weights[s.Layers]+k*s.Outputs+o]
				}
				e := d[o] - target[r*s.Outputs+o]
				if d[o] = 2 * e; s.Absolute {
					loss[g] += math.Abs(e)
					d[o] = float64(cmp.Compare(e, 0))
				} else {
					loss[g] += e * e
				}
			}
			for l := s.Layers; l >= 0; l-- {
				below := make([]float64, len(h[l]))
				for k, v := range h[l] {
					for j, dj := range d {
						share[weights[l]+k*len(d)+j] += v * dj
						below[k] += w[weights[l]+k*len(d)+j] * dj
					}
					if l > 0 && v <= 0 {
						below[k] *= s.Slope
					}
				}
				if l < s.Layers {
					for j, dj := range d {
						share[biases[l]+j] += dj
					}
				}
				d = below
			}
			if inputGrad {
				copy(row(dx, r*s.Inputs, s.Inputs), d)
			}
		}
	}
}
