package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// explained returns what Explain says of a recording.
func explained(t *testing.T, rec *replay.Recording) string {
	t.Helper()
	var b bytes.Buffer
	if err := rec.Explain(&b); err != nil {
		t.Fatal(err)
	}
	if err := rec.Explain(full{}); err == nil {
		t.Error("a writer that fails is no error")
	}
	return b.String()
}

// recordedOn records a step on a device.
func recordedOn(t *testing.T, d tensor.Device, step func() []*tensor.Tensor, opts ...replay.Options) *replay.Recording {
	t.Helper()
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return step(), nil }, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rec.Free)
	return rec
}

// TestExplainLines: each kind of launch is a line with its operands, formula, shape and type, and where it is stored.
func TestExplainLines(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	x, w := tensor.Full(d, 0.5, 3, 4), tensor.Full(d, 2, 4, 5)
	state, bias := tensor.Zeros(d, 3, 5), tensor.Full(d, 1, 5)
	hx, hw, hb := x.To(tensor.BFloat16), w.To(tensor.BFloat16), bias.To(tensor.BFloat16)
	rng, index := tensor.NewRNG(1), devtest.New(d, []int32{0, 3, 1, 2, 3, 0}).Reshape(3, 2)
	bytes, point := index.To(tensor.Int8), tensor.FullOf(d, tensor.Int8, 3, 1)
	q, err := tensor.Quantize(w, tensor.QuantizeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		step func() []*tensor.Tensor
		want string // in the line of the first launch
	}{
		{"a function", func() []*tensor.Tensor { return []*tensor.Tensor{x.GELU()} }, "%0 = map gelu(input0)  f32[3,4] → output0  [k_gelu, reads 48 B, writes 48 B]"},
		{"functions", func() []*tensor.Tensor { return []*tensor.Tensor{x.MulScalar(3).Add(x).SiLU()} }, "%0 = map silu(((input0 * 3) + input0))  f32[3,4] → output0"},
		{"a strided operand", func() []*tensor.Tensor { return []*tensor.Tensor{x.T().Neg()} }, "%0 = map -input0  f32[4,3] → output0"},
		{"a fill", func() []*tensor.Tensor { return []*tensor.Tensor{tensor.Full(d, 7, 2)} }, "%0 = map 7  f32[2] → output0"},
		{"rank 0", func() []*tensor.Tensor { return []*tensor.Tensor{tensor.Full(d, 7).Exp()} }, "f32[] → output0"},
		{"a copy", func() []*tensor.Tensor { return []*tensor.Tensor{x.Copy()} }, "%0 = copy input0  f32[3,4] → output0"},
		{"a conversion", func() []*tensor.Tensor { return []*tensor.Tensor{x.To(tensor.BFloat16)} }, "%0 = convert input0 to bf16  bf16[3,4] → output0"},
		{"a condition", func() []*tensor.Tensor { return []*tensor.Tensor{x.Lt(x)} }, "map (input0 < input0)"},
		{"a product", func() []*tensor.Tensor { return []*tensor.Tensor{x.MatMul(w)} }, "%0 = matmul input0[3,4]·input1[4,5]  f32[3,5] → output0"},
		{"an epilogue", func() []*tensor.Tensor { return []*tensor.Tensor{x.MatMul(w).Tanh()} }, "%0 = matmul input0[3,4]·input1[4,5]; map tanh(t0)  f32[3,5] → output0"},
		{"a layer", func() []*tensor.Tensor { return []*tensor.Tensor{tensor.Linear(x, w, bias, fn.ReLU)} },
			"%0 = matmul input0[3,4]·input1[4,5]"},
		{"a product of 16 bits", func() []*tensor.Tensor { return []*tensor.Tensor{hx.MatMul(hw)} }, "%0 = matmul input0[3,4]·input1[4,5]  bf16[3,5] → output0"},
		{"a batch of 16 bits", func() []*tensor.Tensor { return []*tensor.Tensor{hx.Reshape(3, 1, 4).MatMul(hx.Reshape(3, 4, 1))} },
			"%0 = matmul input0[1,1,3,1,4]·input0[1,1,3,4,1]  bf16[3,1,1]"},
		{"a layer of 16 bits", func() []*tensor.Tensor { return []*tensor.Tensor{tensor.Linear(hx, hw, hb, fn.ReLU)} },
			"%0 = matmul input0[3,4]·input1[4,5]; map (t0 + input2); map where((t1 < 0), 0, t1)  bf16[3,5] → output0"},
		{"an epilogue of 16 bits", func() []*tensor.Tensor { return []*tensor.Tensor{hx.MatMul(hw).Tanh()} },
			"%0 = matmul input0[3,4]·input1[4,5]; map bfloat16(tanh(t0))  bf16[3,5] → output0"},
		{"a sum", func() []*tensor.Tensor { return []*tensor.Tensor{x.Sum(0)} }, "%0 = sum axis 1 of input0[1,3,4]  f32[1,4] → output0"},
		{"a softmax", func() []*tensor.Tensor { return []*tensor.Tensor{x.Softmax(-1)} }, "%0 = softmax(input0)  f32[3,4] → output0"},
		{"state", func() []*tensor.Tensor { state.SetInPlace(x.MatMul(w)); return nil }, " → state0"},
		{"a constant", func() []*tensor.Tensor { return []*tensor.Tensor{x.Add(tensor.New(d, []float32{1, 2, 3, 4}))} }, "map (input0 + constant0)"},
		{"random numbers", func() []*tensor.Tensor { return []*tensor.Tensor{rng.Uniform(d, 0, 1, 6)} }, "%0 = rng-uniform  f32[6] → output0"},
		{"a convolution", func() []*tensor.Tensor {
			return []*tensor.Tensor{x.Reshape(1, 1, 3, 4).Conv(w.Reshape(5, 1, 2, 2), nil)}
		}, "%0 = conv2d input0[1,1,3,4] input1[5,1,2,2] stride 1 pad 0  f32[1,5,2,3] → output0"},
		{"a pooling", func() []*tensor.Tensor { return []*tensor.Tensor{x.Reshape(1, 1, 3, 4).MaxPool([]int{2, 3})} },
			"%0 = max-pool2d input0[1,3,4] kernel 2,3 stride 2,3 pad 0  f32[1,1,1,1] → output0"},
		{"a mean of windows", func() []*tensor.Tensor { return []*tensor.Tensor{x.Reshape(1, 3, 4).AdaptiveAvgPool([]int{3})} },
			"%0 = adaptive-avg-pool1d input0[3,4] size 3  f32[1,3,3] → output0"},
		{"a mean of windows with padding", func() []*tensor.Tensor {
			return []*tensor.Tensor{x.AvgPool([]int{3}, tensor.AvgPoolOptions{Padding: []int{1}})}
		}, "%0 = avg-pool1d input0[3,4] kernel 3 stride 3 pad 1 counted  f32[3,2] → output0"},
		{"a mean with a divisor", func() []*tensor.Tensor {
			return []*tensor.Tensor{x.AvgPool([]int{2}, tensor.AvgPoolOptions{Divisor: 3})}
		}, "%0 = avg-pool1d input0[3,4] kernel 2 stride 2 pad 0 divisor 3  f32[3,2] → output0"},
		{"a product of elements", func() []*tensor.Tensor { return []*tensor.Tensor{x.Prod(1)} },
			"%0 = prod axis 1 of input0[3,4,1]  f32[3,1,1] → output0"},
		{"an index of a maximum", func() []*tensor.Tensor { return []*tensor.Tensor{x.ArgMax(1)} },
			"%0 = argmax axis 1 of input0[3,4,1]  f32[3,1,1] s64[3,1,1] → output0"},
		{"an index of a minimum of integers", func() []*tensor.Tensor { return []*tensor.Tensor{index.ArgMin(0)} },
			"%0 = argmin axis 1 of input0[1,3,2]  s32[1,1,2] s64[1,1,2] → output0"},
		{"a product of integers", func() []*tensor.Tensor {
			return []*tensor.Tensor{tensor.MatMulInteger(bytes, bytes.T(), tensor.MatMulIntegerOptions{ZeroA: point})}
		}, "%0 = map (input0 - input1); matmul t0[1,3,2]·input0[1,2,3]  s32[3,3] → output0"},
		{"a convolution of integers", func() []*tensor.Tensor {
			return []*tensor.Tensor{tensor.ConvInteger(bytes.Reshape(1, 1, 6), bytes.Reshape(2, 1, 3))}
		}, "%0 = conv1d input0[1,1,6] input0[2,1,3] stride 1 pad 0  s32[1,2,4] → output0"},
		{"a product of quantized weights", func() []*tensor.Tensor {
			return []*tensor.Tensor{tensor.MatMulQuantized(x, q)}
		}, "%0 = map dequantize(input0, input1); matmul input2[3,4]·t0[4,5]  f32[3,5] → output0"},
		{"quantized weights as floats", func() []*tensor.Tensor { return []*tensor.Tensor{q.Dequantize()} },
			"%0 = map dequantize(input0, input1)  f32[4,5] → output0"},
		{"an embedding of quantized weights", func() []*tensor.Tensor {
			return []*tensor.Tensor{tensor.EmbeddingQuantized(q, index)}
		}, "%0 = map dequantize(input0, input1); gather rows input2 of t0[5,4]  f32[3,2,4] → output0"},
		{"a scan", func() []*tensor.Tensor { return []*tensor.Tensor{x.CumSum(0)} }, "%0 = cumsum axis 1 of input0[1,3,4]  f32[3,4] → output0"},
		{"elements by index", func() []*tensor.Tensor { return []*tensor.Tensor{x.Gather(1, index)} },
			"%0 = gather axis 1 input0 of input1[3,4,1]  f32[3,2] → output0"},
		{"a pad", func() []*tensor.Tensor {
			return []*tensor.Tensor{x.Pad([][2]int{{0, 0}, {2, 1}}, tensor.PadOptions{Mode: tensor.PadReflect})}
		},
			"%0 = pad reflect input0[3,4] before 0,2 to [3,7]  f32[3,7] → output0"},
		{"a sort", func() []*tensor.Tensor {
			values, indices := x.Sort(1)
			return []*tensor.Tensor{values, indices}
		}, " = sort axis 1 of input0[3,4]"},
		{"an interpolation", func() []*tensor.Tensor {
			return []*tensor.Tensor{x.Reshape(1, 3, 4).Interpolate([]int{7})}
		}, "%0 = interpolate nearest input0[3,4] to 7  f32[1,3,7] → output0"},
		{"an interpolation between corners", func() []*tensor.Tensor {
			return []*tensor.Tensor{x.Interpolate([]int{7}, tensor.InterpolateOptions{Linear: true, AlignCorners: true})}
		}, "%0 = interpolate linear align-corners input0[3,4] to 7  f32[3,7] → output0"},
		{"nothing to do", func() []*tensor.Tensor { return []*tensor.Tensor{tensor.Zeros(d, 0, 3).Neg()} }, "run: 1 launch"},
	} {
		rec := recordedOn(t, d, c.step)
		text := explained(t, rec)
		run := text[strings.Index(text, "\nrun: "):]
		if !strings.Contains(run, c.want) {
			t.Errorf("%s: no %q in\n%s", c.name, c.want, text)
		}
	}
}

// TestExplain: the listing of a step of training names parameters and gradients by their paths, and launches by their
// layers, eager and behind the passes; a launch says whose layers it does.
func TestExplain(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(1)
		var m struct {
			Up, Down *nn.Linear
			Norm     *nn.LayerNorm
		}
		m.Up = nn.NewLinear(d, rng, nn.LinearConfig{In: 6, Out: 20})
		m.Down = nn.NewLinear(d, rng, nn.LinearConfig{In: 20, Out: 6})
		m.Norm = nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{6}})
		opt := optim.NewAdamW(nn.Params(&m), optim.AdamWDefaults(optim.Constant(1e-3)))
		x := autograd.Const(tensor.Full(d, 0.5, 9, 6))
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			loss := m.Norm.Forward(m.Down.Forward(m.Up.Forward(x).GELU())).Square().Mean()
			if err := loss.Backward(); err != nil {
				return nil, err
			}
			err := opt.Step()
			opt.ZeroGrad()
			return []*tensor.Tensor{loss.Value()}, err
		})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		text := explained(t, rec)
		for _, want := range []string{"step: ", "\nrun: ", "\ndone:\n", "\nnot done:\n", "\nmemory of a run: ", "\nrecorded in ", "  pass inline: ",
			"up.weight", "down.weight.grad", "# up: Linear", "# norm: LayerNorm", "down: gradient of Linear", "# Step",
			"step-scalar", " → parameters0, state"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		all := map[string]bool{}
		for _, l := range rec.Launches() {
			for _, o := range l.Operations {
				all[o] = true
			}
		}
		for _, want := range []string{"up: Linear", "down: Linear", "norm: LayerNorm", "up: gradient of Linear", "Step"} {
			if !all[want] {
				t.Errorf("no launch is part of %q: %v", want, all)
			}
		}
		times, err := rec.Profile()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(times, func(l replay.LaunchTime) bool {
			return strings.HasPrefix(l.String(), "up: Linear") && strings.Contains(l.String(), " → k_")
		}) {
			t.Errorf("no launch is named by its layer: %v", times)
		}
	})
}

// TestRefusals: what is not fused has a reason that programs can switch on, and the line that Options.Explain prints.
func TestRefusals(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	x, y := tensor.Full(d, 2, 100, 10), tensor.Full(d, 2, 10, 10)
	for _, c := range []struct {
		name   string
		step   func() []*tensor.Tensor
		pass   string
		reason replay.Reason
		steps  []int
	}{
		{"columns", func() []*tensor.Tensor { return []*tensor.Tensor{x.Exp().Sum(0)} }, "rows", replay.ReasonOpaque, []int{0, 1}},
		{"an output", func() []*tensor.Tensor { e := x.Exp(); return []*tensor.Tensor{e, e.Neg()} }, "inline", replay.ReasonUsed, []int{0}},
		{"a product", func() []*tensor.Tensor { return []*tensor.Tensor{y.Exp().MatMul(y)} }, "inline", replay.ReasonOpaque, []int{0}},
		{"a part", func() []*tensor.Tensor { return []*tensor.Tensor{y.MatMul(y).Slice(0, 0, 5).Neg()} }, "epilogue", replay.ReasonAccess, []int{0, 1}},
	} {
		var said bytes.Buffer
		rec := recordedOn(t, d, c.step, replay.Options{Explain: &said})
		list := rec.Refusals()
		at := slices.IndexFunc(list, func(f replay.Refusal) bool {
			return f.Pass == c.pass && f.Reason == c.reason && slices.Equal(f.Launches, c.steps) && f.Detail != "" && strings.HasSuffix(f.String(), f.Detail)
		})
		if at < 0 {
			t.Errorf("%s: no %s of %s among %q", c.name, c.reason, c.pass, list)
			continue
		}
		for _, f := range list {
			if !strings.Contains(said.String(), "replay: "+f.String()+"\n") || !strings.Contains(explained(t, rec), "["+string(f.Reason)+"] "+f.String()+"\n") {
				t.Errorf("%s: %q is not explained:\n%s", c.name, f, said.String())
			}
		}
	}
	if list := recordedOn(t, d, func() []*tensor.Tensor { return []*tensor.Tensor{x.Exp().Sum(0)} }, replay.Options{Without: []string{"none"}}).Refusals(); list != nil {
		t.Errorf("without passes: %v", list)
	}
}

// TestOutputsAreNoRefusals: a map whose result the step returns is no refusal of `inline` where nothing in the step
// reads that: the epilogue that it became is the only line of it. Where a map reads it, the line says that it is stored.
func TestOutputsAreNoRefusals(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x, w := tensor.Full(d, 0.5, 3, 4), tensor.Full(d, 2, 4, 5)
		text := explained(t, recordedOn(t, d, func() []*tensor.Tensor { return []*tensor.Tensor{x.MatMul(w).Abs()} }))
		if !strings.Contains(text, "epilogue: 1 k_abs: computed where 0 k_gemm_nn stores its result\n") ||
			strings.Contains(text, "inline: 1 k_abs") {
			t.Errorf("an epilogue:\n%s", text)
		}
		text = explained(t, recordedOn(t, d, func() []*tensor.Tensor {
			y := x.MatMul(w).Abs()
			return []*tensor.Tensor{y, y.T().Neg()}
		}))
		want := "[used] inline: 1 k_abs: refused: its result is stored, for it is there after the run\n"
		if !strings.Contains(text, want) {
			t.Errorf("an output that a map reads:\n%s", text)
		}
	})
}

// TestReportedMemory: a recording says what memory a run takes: temporaries that are not needed at one time share a place.
func TestReportedMemory(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const n = 1000
		x := tensor.Full(d, 2, n)
		rec := recordedOn(t, d, func() []*tensor.Tensor {
			y := x.Add(tensor.New(d, make([]float32, n)))
			for range 5 {
				y = y.Exp()
			}
			return []*tensor.Tensor{y.Copy()}
		}, replay.Options{Without: []string{"none"}})
		r := rec.Report()
		if r.TemporaryBytes != 6*n*4 || r.PeakBytes != 2*n*4 || r.PlannedBytes < r.PeakBytes || r.PlannedBytes > r.PeakBytes+4096 {
			t.Errorf("temporaries %d, peak %d, planned %d", r.TemporaryBytes, r.PeakBytes, r.PlannedBytes)
		}
		if r.ConstantBytes != n*4 || r.InputBytes != n*4 || r.OutputBytes != n*4 {
			t.Errorf("constants %d, inputs %d, outputs %d", r.ConstantBytes, r.InputBytes, r.OutputBytes)
		}
	})
}

// TestTimes: what Record did took time; kernels are the slowest first.
func TestTimes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rec, _ := seen(t, d)
		times := rec.Times()
		if times.Tracing <= 0 || len(times.Passes) != len(replay.Passes())-1 || times.Passes[0].Pass != replay.Passes()[0][0] {
			t.Errorf("%+v", times)
		}
		if len(times.Kernels) > 10 || !slices.IsSortedFunc(times.Kernels, func(a, b replay.KernelTime) int { return int(b.Took - a.Took) }) {
			t.Errorf("%+v", times.Kernels)
		}
		times.Passes[0].Pass = "changed"
		if rec.Times().Passes[0].Pass == "changed" {
			t.Error("Times is not a copy")
		}
	})
}

// TestExplainAfterFree: what there is to know of a recording stays.
func TestExplainAfterFree(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	rec, _ := seen(t, d)
	before := explained(t, rec)
	rec.Free()
	if after := explained(t, rec); after != before {
		t.Errorf("%s\nwant\n%s", after, before)
	}
	if _, err := rec.Profile(); !errors.Is(err, replay.ErrReleased) {
		t.Error(err)
	}
}

// TestExplainDocs: what docs/recording.md shows is what Explain prints, but for what it leaves out.
func TestExplainDocs(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	m := struct{ Up *nn.Linear }{nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 32, Out: 256})}
	nn.Params(&m)
	x := autograd.Const(tensor.Full(d, 0.5, 64, 32))
	text := explained(t, recordedOn(t, d, func() []*tensor.Tensor { return []*tensor.Tensor{m.Up.Forward(x).GELU().Value()} }))
	page, err := os.ReadFile("../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```\nstep: ")
	block, _, _ = strings.Cut("step: "+block, "\n```")
	if !found {
		t.Fatal("docs/recording.md shows no listing")
	}
	for line := range strings.Lines(block) {
		if line, _, _ = strings.Cut(strings.TrimSpace(line), "…"); !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

// TestRefusalsPage: the table "What is not done" of docs/recording.md has a row for each reason, names passes that
// there are, and has details that lines of Explain end with.
func TestRefusalsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, name := range names {
		if text, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		} else if !strings.HasSuffix(name, "_test.go") {
			source.Write(text)
		}
	}
	listed := map[string]bool{} // by the constants
	for _, m := range regexp.MustCompile(`(?m)^\tReason\w+ +Reason = "(.*?)"`).FindAllStringSubmatch(source.String(), -1) {
		listed[m[1]] = false
	}
	_, table, _ := strings.Cut(string(page), "\n| reason | detail | passes |")
	table, _, found := strings.Cut(table, "\n\n")
	if !found || len(listed) == 0 {
		t.Fatalf("docs/recording.md has no table of reasons, or reasons.go none of %d", len(listed))
	}
	quoted := regexp.MustCompile("`(.*?)`")
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(row, " | ")
		reason := strings.Trim(cells[0], "| `")
		if _, is := listed[reason]; !is {
			t.Errorf("there is no reason %q", reason)
		}
		listed[reason] = true
		for _, detail := range quoted.FindAllStringSubmatch(cells[1], -1) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(detail[1]), "…", `%\w`)
			if !regexp.MustCompile(`because\(Reason.*, ".*` + pattern).MatchString(source.String()) {
				t.Errorf("no refusal says %q", detail[1])
			}
		}
		for _, pass := range quoted.FindAllStringSubmatch(cells[2], -1) {
			if !slices.ContainsFunc(replay.Passes(), func(p [2]string) bool { return p[0] == pass[1] }) {
				t.Errorf("there is no pass %q", pass[1])
			}
		}
	}
	for reason, has := range listed {
		if !has {
			t.Errorf("docs/recording.md has no row for %q", reason)
		}
	}
}

// Why a sum of columns is a launch of its own.
func ExampleRecording_Refusals() {
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	x := tensor.Full(d, 2, 100, 10)
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		return []*tensor.Tensor{x.Exp().Sum(0)}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rec.Free()
	for _, f := range rec.Refusals() {
		if f.Reason == replay.ReasonOpaque {
			fmt.Println(f.Pass, f.Launches, f.Detail)
		}
	}
	// Output:
	// inline [0] 1 k_sum_axis reads its result: it is no map
	// rows [0 1] 1 k_sum_axis does not work on rows
}
