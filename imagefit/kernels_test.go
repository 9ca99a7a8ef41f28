package imagefit

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// TestKernels holds the kernels to their host kernels, and to what they say of themselves, in the forms
// for CPUs and for GPUs.
func TestKernels(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is named here
	devtest.Optimize(t)
	check := func(t *testing.T, d tensor.Device) {
		if err := kerneltest.All(d, testing.Short(), Kernels()...); err != nil {
			t.Error(err)
		}
	}
	devtest.Both(t, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}

// TestLaunchedKernels: what fits and renderings launch is in Kernels.
func TestLaunchedKernels(t *testing.T) {
	var names []string
	for _, k := range Kernels() {
		names = append(names, k.Name)
	}
	for _, j := range []*kernels.FusedElementwise{centresMap, samplesMap[1], samplesMap[3], octavesMap, wavesMap} {
		if err := j.Err(); err != nil {
			t.Error(err)
		}
		if !slices.Contains(names, "k_"+j.Name) {
			t.Errorf("%s is not among the kernels", j.Name)
		}
	}
}

// TestParamsMatchSources holds the parameters of kernels against those of their entry points, in
// name, kind and order.
func TestParamsMatchSources(t *testing.T) {
	macros := map[kernels.Mode]string{kernels.In: "IN(%)", kernels.Out: "OUT(%)", kernels.OutInts: "OUT_INTS(%)", kernels.IntParam: "int %"}
	for name, c := range map[string]struct {
		source string
		kernel *kernels.Kernel
	}{
		"sample_cpu.cl": {sampleCPU, sampleEncode}, "sample_gpu.cl": {sampleGPU, sampleEncode},
		"sample_lookup.cl": {sampleLookupText, sampleLookup},
		"encode_lines.cl":  {encodeLinesText, encodeLines},
	} {
		var params []string
		for _, p := range c.kernel.Params {
			params = append(params, strings.Replace(macros[p.Mode], "%", p.Name, 1))
		}
		want := "void " + c.kernel.Name + "(" + strings.Join(params, ", ") + ") {"
		source := c.source
		if text := regexp.MustCompile(`\s+`).ReplaceAllString(source, " "); strings.Count(text, want) != 1 {
			t.Errorf("%s does not have once\n%s", name, want)
		}
	}
}

// TestSamplesOfEveryColour: a pixel is drawn with all of its channels, however many there are, and
// with its place; and the stream continues with each draw.
func TestSamplesOfEveryColour(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		const width, height, n = 5, 3, 70
		for channels := 1; channels <= 4; channels++ {
			values := make([]float64, width*height*channels)
			for i := range values {
				values[i] = float64(i)
			}
			pixels, rng := devtest.New(d, values, width*height, channels), tensor.NewRNG(9)
			var before []float64
			for range 2 {
				positions, colours := samplePixels(pixels, rng, n, width, height)
				p, err := positions.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				v, err := colours.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					pixel := int(math.Floor(p[2*i+1]*height))*width + int(math.Floor(p[2*i]*width))
					if off := math.Abs(math.Mod(p[2*i]*width, 1)-0.5) + math.Abs(math.Mod(p[2*i+1]*height, 1)-0.5); off > 1e-5 {
						t.Errorf("%d channels: sample %d is at %v, no centre", channels, i, p[2*i:2*i+2])
					}
					for k := range channels {
						if v[channels*i+k] != float64(pixel*channels+k) {
							t.Errorf("%d channels: sample %d at %v has colours %v", channels, i, p[2*i:2*i+2], v[channels*i:channels*(i+1)])
						}
					}
				}
				if slices.Equal(p, before) {
					t.Errorf("%d channels: the same pixels again", channels)
				}
				before = p
			}
		}
	})
}
