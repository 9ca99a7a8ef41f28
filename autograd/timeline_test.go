package autograd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// chromeTrace is what chrome://tracing reads.
type chromeTrace struct {
	DisplayTimeUnit string
	OtherData       map[string]string
	TraceEvents     []chromeEvent
}

type chromeEvent struct {
	Name, Cat, Ph string
	Ts, Dur       *float64
	Pid, Tid      int
	Args          map[string]any
}

func (e chromeEvent) end() float64 { return *e.Ts + *e.Dur }

// TestTrace: spans and kernels have the fields of the format, are in order, and nest; kernels say which operation they
// are part of.
func TestTrace(t *testing.T) {
	for _, sel := range devtest.Selected() {
		t.Run(sel, func(t *testing.T) { testTrace(t, sel) })
	}
}

func testTrace(t *testing.T, sel string) {
	d := devtest.Open(t, sel, tensor.Options{Timeline: true})
	w := autograd.Param(tensor.Full(d, 2, 8, 3), "w")
	x := autograd.Const(tensor.Full(d, 1, 5, 8))
	tensor.Span(d, "step", func() {
		var loss *autograd.Node
		tensor.Span(d, "forward", func() { loss = x.MatMul(w).Exp().Sum() })
		tensor.Span(d, "backward", func() {
			if err := loss.Backward(); err != nil {
				t.Fatal(err)
			}
			if err := d.Sync(); err != nil {
				t.Fatal(err)
			}
		})
	})
	var b bytes.Buffer
	if err := tensor.WriteTrace(&b, d); err != nil {
		t.Fatal(err)
	}
	var trace chromeTrace
	decoder := json.NewDecoder(&b)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&trace); err != nil {
		t.Fatal(err)
	}
	if trace.DisplayTimeUnit != "ms" || trace.OtherData["left out"] != "0" {
		t.Errorf("%+v", trace)
	}
	var spans, kernels []chromeEvent
	names := map[int]string{}
	for _, e := range trace.TraceEvents {
		switch {
		case e.Ph == "M" && e.Name == "thread_name":
			names[e.Tid] = e.Args["name"].(string)
			continue
		case e.Ph == "M":
			continue
		case e.Ph != "X" || e.Ts == nil || e.Dur == nil || *e.Ts < 0 || *e.Dur < 0 || e.Pid != 1 || e.Name == "":
			t.Fatalf("%+v", e)
		case e.Cat == "span":
			spans = append(spans, e)
		case e.Cat == "kernel":
			kernels = append(kernels, e)
		}
	}
	if len(spans) != 3 || spans[0].Name != "step" || spans[1].Name != "forward" || spans[2].Name != "backward" {
		t.Fatalf("spans: %+v", spans)
	}
	if names[spans[0].Tid] != "host" || names[kernels[0].Tid] != d.Name() {
		t.Errorf("threads: %v", names)
	}
	step, forward, backward := spans[0], spans[1], spans[2]
	if *forward.Ts < *step.Ts || forward.end() > *backward.Ts || backward.end() > step.end() {
		t.Errorf("spans do not nest: %+v", spans)
	}
	if !slices.IsSortedFunc(kernels, func(a, b chromeEvent) int { return int(1e3 * (*a.Ts - *b.Ts)) }) {
		t.Errorf("kernels are not in order: %+v", kernels)
	}
	var within, of []string
	for i, k := range kernels {
		if i > 0 && *k.Ts < kernels[i-1].end()-1e-3 {
			t.Errorf("kernels overlap: %+v, %+v", kernels[i-1], k)
		}
		if bytes, ok := k.Args["bytes"].(float64); !ok || bytes <= 0 {
			t.Errorf("%+v", k)
		}
		if *k.Ts < *step.Ts {
			continue // before the step
		}
		operation, _ := k.Args["operation"].(string)
		within, of = append(within, k.Name), append(of, operation)
	}
	for _, want := range []string{"MatMul", "Exp", "Sum", "gradient of Exp", "gradient of MatMul"} {
		if !slices.Contains(of, want) {
			t.Errorf("no kernel of %q: %v are of %q", want, within, of)
		}
	}
	if text := strings.Join(of, " "); strings.Index(text, "MatMul") > strings.Index(text, "gradient of") {
		t.Errorf("operations: %q", of)
	}
}

// TestTraceLayers: kernels say which layer they are part of, by the path of the parameters that an operation reads,
// whichever operand these are; the next operation is of another layer, or of none.
func TestTraceLayers(t *testing.T) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(t, sel, tensor.Options{Timeline: true})
		w := autograd.Param(tensor.Full(d, 2, 8, 8), "blocks.3.up.weight")
		half := autograd.Param(tensor.Full(d, 2, 8, 8), "down.weight")
		x := autograd.Const(tensor.Full(d, 1, 8, 8))
		loss := w.MatMul(x).Exp().MatMul(half.To(tensor.BFloat16).To(d.DefaultType())).Sum()
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := tensor.WriteTrace(&b, d); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"blocks.3.up: MatMul", "Exp", "down: To", "blocks.3.up: gradient of MatMul", "gradient of Exp"} {
			if !strings.Contains(b.String(), `"operation":"`+want+`"`) {
				t.Errorf("%s: no kernel of %q", sel, want)
			}
		}
	}
}

// TestTraceErrors: a device that keeps no times, and a writer that fails.
func TestTraceErrors(t *testing.T) {
	d := devtest.CPU(t)
	ran := false
	tensor.Span(d, "s", func() { ran = true })
	err := tensor.WriteTrace(new(bytes.Buffer), d)
	if !ran || !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "Options.Timeline") {
		t.Error(ran, err)
	}
	kept := devtest.Open(t, "cpu", tensor.Options{Timeline: true})
	full := errors.New("full")
	if err := tensor.WriteTrace(failing{full}, kept); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := tensor.WriteTrace(new(bytes.Buffer), kept); err != nil { // nothing has run
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
