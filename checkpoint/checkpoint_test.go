package checkpoint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/checkpoint"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// run is a program that trains: a network with noise and a loader, two optimizers, a schedule that
// has a state, and averages of its weights.
type run struct {
	net      *nn.MLP
	opts     [2]optim.Optimizer
	rng      *tensor.RNG
	loader   *data.Loader
	mean     *tensor.Tensor
	ema      *optim.EMA
	plateau  *optim.Plateau
	progress struct {
		Step   int
		Losses []float64
	}
	device tensor.Device
}

func newRun(d tensor.Device, seed uint64) *run {
	r := &run{device: d, rng: tensor.NewRNG(seed)}
	r.net = nn.NewMLP(d, r.rng, nn.MLPConfig{Sizes: []int{3, 8, 1}, Activations: []nn.Activation{nn.Tanh}})
	params := nn.Params(r.net)
	r.opts[0] = optim.NewAdamW(params[:2], optim.AdamWDefaults(optim.Cosine(1e-2, 0, 12)))
	plateau := optim.PlateauDefaults(1e-2)
	plateau.Patience = 0
	r.plateau = optim.NewPlateau(plateau)
	r.opts[1] = optim.NewSGD(params[2:], optim.SGDConfig{LR: r.plateau.LR, Momentum: 0.9})
	r.ema = optim.NewEMA(params, 0.9)
	rows := make([]float32, 11*3)
	for i := range rows {
		rows[i] = float32(math.Sin(float64(i)))
	}
	r.loader = data.NewLoader(d, []data.Array{data.New(rows, 11, 3)}, data.LoaderConfig{Batch: 3, Seed: seed})
	r.mean = tensor.Zeros(d, 8, 3).Retain()
	return r
}

func (r *run) parts() checkpoint.State {
	return checkpoint.State{"model": nn.StateDict(r.net), "adamw": r.opts[0], "sgd": r.opts[1], "rng": r.rng, "loader": r.loader, "progress": &r.progress,
		"mean": tensor.Dict{"weight": r.mean.T()}, "ema": r.ema, "plateau": r.plateau}
}

// train does steps until there are n, and calls after with the end of each.
func (r *run) train(t testing.TB, n int, after func()) {
	t.Helper()
	for r.progress.Step < n {
		for batch := range r.loader.Epoch() {
			x := autograd.Const(batch[0])
			y := r.net.Forward(x.Dropout(0.2, r.rng, true))
			loss := y.Square().Mean()
			v, err := loss.Item()
			if err := errors.Join(err, loss.Backward(), r.opts[0].Step(), r.opts[1].Step()); err != nil {
				t.Fatal(err)
			}
			r.opts[0].ZeroGrad()
			r.opts[1].ZeroGrad()
			if err := r.ema.Update(); err != nil {
				t.Fatal(err)
			}
			r.plateau.Measured(v)
			r.mean.SetInPlace(r.mean.MulScalar(0.9).Add(nn.StateDict(r.net)["layer0.weight"].MulScalar(0.1)))
			r.progress.Step++
			r.progress.Losses = append(r.progress.Losses, v)
			if after(); r.progress.Step == n {
				return
			}
		}
	}
}

func bytesOf(t testing.TB, parts checkpoint.State) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := checkpoint.Write(&b, parts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestResume: training that is stopped at any step, saved, and loaded into a program that began
// otherwise continues with the bits of training that was never stopped: weights, moments, noise,
// order and values.
func TestResume(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const steps = 10
		path := filepath.Join(t.TempDir(), "run.safetensors")
		whole := newRun(d, 1)
		whole.train(t, steps, func() {})
		want := bytesOf(t, whole.parts())
		for _, stop := range []int{1, 4, 5} { // in an epoch, at the end of one, and before its first batch is done
			first := newRun(d, 1)
			first.train(t, stop, func() {})
			if err := checkpoint.Save(path, first.parts()); err != nil {
				t.Fatal(err)
			}
			next := newRun(d, 1)
			next.rng.Seed = 7
			next.train(t, 2, func() {})
			if err := checkpoint.Load(path, next.parts()); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(bytesOf(t, next.parts()), bytesOf(t, first.parts())) {
				t.Fatalf("what was loaded at step %d is not what was saved", stop)
			}
			next.train(t, steps, func() {})
			if !bytes.Equal(bytesOf(t, next.parts()), want) {
				t.Errorf("stopped at step %d: %+v, never stopped: %+v", stop, next.progress, whole.progress)
			}
		}
	})
}

// TestRecorded: a recorded step resumes from what is loaded, with the bits that it had before.
func TestRecorded(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		r := newRun(d, 1)
		x := tensor.Full(d, 0.5, 4, 3)
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			loss := r.net.Forward(autograd.Const(x).Dropout(0.5, r.rng, true)).Square().Mean()
			err := errors.Join(loss.Backward(), r.opts[0].Step(), r.opts[1].Step())
			r.opts[0].ZeroGrad()
			r.opts[1].ZeroGrad()
			return []*tensor.Tensor{loss.Value()}, err
		})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		three := func() []byte {
			for range 3 {
				if err := rec.Run(); err != nil {
					t.Fatal(err)
				}
			}
			return bytesOf(t, r.parts())
		}
		saved := three()
		want := three()
		if err := checkpoint.Read(bytes.NewReader(saved), int64(len(saved)), r.parts()); err != nil {
			t.Fatal(err)
		}
		if got := three(); !bytes.Equal(got, want) || bytes.Equal(got, saved) {
			t.Error("not the bits that the run had before")
		}
	})
}

// TestNothingLeft: saving and loading leave no memory behind, also where the file is refused.
func TestNothingLeft(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t)
	r := newRun(d, 1)
	parts := r.parts()
	raw := bytesOf(t, parts)
	before := d.Stats().LiveBytes
	for range 3 {
		if err := checkpoint.Read(bytes.NewReader(bytesOf(t, parts)), int64(len(raw)), parts); err != nil {
			t.Fatal(err)
		}
		if err := checkpoint.Read(bytes.NewReader(raw[:9]), 9, parts); err == nil {
			t.Fatal("a damaged file was loaded")
		}
	}
	if now := d.Stats().LiveBytes; now != before {
		t.Errorf("%d bytes live before, %d after", before, now)
	}
}

// TestViewsEnd: an optimizer that was saved and loaded gives its memory back when it is freed.
func TestViewsEnd(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t)
	left := func(keep bool) int64 {
		w := autograd.Param(tensor.Zeros(d, 1000), "w")
		opt := optim.NewSGD([]*autograd.Node{w}, optim.SGDConfig{LR: optim.Constant(1), Momentum: 0.9})
		if keep {
			parts := checkpoint.State{"w": tensor.Dict{"w": w.Value()}, "opt": opt}
			raw := bytesOf(t, parts)
			if err := checkpoint.Read(bytes.NewReader(raw), int64(len(raw)), parts); err != nil {
				t.Fatal(err)
			}
		}
		before := d.Stats().LiveBytes
		opt.Free()
		return before - d.Stats().LiveBytes
	}
	if with, without := left(true), left(false); with != without || without == 0 {
		t.Errorf("%d bytes came back, and without a checkpoint %d", with, without)
	}
}

// edited returns a checkpoint of which tensors or the description were changed, with a checksum
// that is right.
func edited(t *testing.T, d tensor.Device, raw []byte, tensors func(tensor.Dict), text func(string) string) []byte {
	t.Helper()
	dict, metadata, err := tensor.ReadSafetensors(d, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	tensors(dict)
	delete(metadata, "clgrad.sha256")
	if was := metadata["clgrad.checkpoint"]; text != nil {
		if metadata["clgrad.checkpoint"] = text(was); metadata["clgrad.checkpoint"] == was {
			t.Fatalf("nothing was changed in %s", was)
		}
	}
	var b bytes.Buffer
	if err := tensor.WriteSafetensors(&b, dict, tensor.SafetensorsOptions{Metadata: metadata, Checksum: true}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRefused: what does not fit is named, and nothing has changed.
func TestRefused(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	saved, r := newRun(d, 1), newRun(d, 1)
	saved.train(t, 5, func() {})
	raw := bytesOf(t, saved.parts())
	r.train(t, 2, func() {})
	want := bytesOf(t, r.parts())
	same := func(tensor.Dict) {}
	replace := func(from, to string) []byte {
		return edited(t, d, raw, same, func(s string) string { return strings.Replace(s, from, to, 1) })
	}
	var plain, unsummed bytes.Buffer
	dict, metadata, err := tensor.ReadSafetensors(d, bytes.NewReader(raw), int64(len(raw)))
	delete(metadata, "clgrad.sha256")
	if err := errors.Join(err, tensor.WriteSafetensors(&plain, dict), tensor.WriteSafetensors(&unsummed, dict, tensor.SafetensorsOptions{Metadata: metadata})); err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(raw)
	flipped[len(raw)-1] ^= 4
	set := func(name string, x *tensor.Tensor) []byte {
		return edited(t, d, raw, func(dict tensor.Dict) { dict[name] = x }, nil)
	}
	f64 := devtest.CPU(t)
	for name, c := range map[string]struct {
		raw []byte
		say string
	}{
		"nothing":           {nil, "it has 0 bytes"},
		"half":              {raw[:len(raw)*9/10], "cut off"},
		"flipped":           {flipped, "checksum"},
		"weights alone":     {plain.Bytes(), "no checkpoint: tensor.LoadSafetensors reads it"},
		"no checksum":       {unsummed.Bytes(), "its checksum is gone"},
		"another version":   {replace(`"version":1`, `"version":2`), "it is of version 2, and this program reads version 1"},
		"no description":    {replace(`{`, `[`), "damaged"},
		"a part more":       {replace(`"rng":`, `"more":{"kind":"a value"},"rng":`), `it has a part "more", and the program has none`},
		"a part less":       {edited(t, d, raw, same, func(s string) string { return s[:strings.Index(s, `,"sgd"`)] + "}}" }), `it has no part "sgd"`},
		"another kind":      {replace(`"rng":{"kind":"a random stream"`, `"rng":{"kind":"a value"`), `its part "rng" is a value, and that of the program is a random stream`},
		"no state":          {replace(`"kind":"a random stream","state"`, `"kind":"a random stream","other"`), `part "rng": what is kept of it is damaged`},
		"negative steps":    {replace(`"Steps":5`, `"Steps":-5`), `part "adamw": what is kept of it is damaged`},
		"no steps":          {replace(`"Steps":5`, `"Steps":"5"`), `part "adamw": what is kept of it is damaged`},
		"a field more":      {replace(`"Losses"`, `"Error"`), `part "progress": it does not fit struct`},
		"another field":     {replace(`"Step":5`, `"Step":"5"`), `part "progress": it does not fit struct`},
		"other rows":        {replace(`"Rows":11`, `"Rows":12`), `part "loader": data: restore: the state is of a loader with 12 rows`},
		"a tensor more":     {set("model.more", tensor.Zeros(d)), `it has a tensor "model.more", and the program has none`},
		"a tensor less":     {edited(t, d, raw, func(dict tensor.Dict) { delete(dict, "adamw.v.layer0.bias") }, nil), `it has no tensor "adamw.v.layer0.bias"`},
		"another shape":     {set("model.layer1.bias", tensor.Zeros(d, 2)), `tensor "model.layer1.bias" has shape [2] in it, and [1] in the program`},
		"another type":      {set("model.layer1.bias", tensor.ZerosOf(d, tensor.Int32, 1)), `tensor "model.layer1.bias" is of type I32 in it, and F32 in the program`},
		"of another device": {bytesOf(t, newRun(f64, 1).parts()), "is of type F64 in it, and F32 in the program"},
	} {
		err := checkpoint.Read(bytes.NewReader(c.raw), int64(len(c.raw)), r.parts())
		if !errors.Is(err, checkpoint.ErrCheckpoint) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want one that says %q", name, err, c.say)
		}
		if !bytes.Equal(bytesOf(t, r.parts()), want) {
			t.Fatalf("%s: the refusal changed something", name)
		}
	}
	floats := bytesOf(t, checkpoint.State{"n": tensor.Dict{"x": tensor.Zeros(d)}})
	ints := checkpoint.State{"n": tensor.Dict{"x": tensor.ZerosOf(d, tensor.Int32)}}
	if err := checkpoint.Read(bytes.NewReader(floats), int64(len(floats)), ints); err == nil || !strings.Contains(err.Error(), `tensor "n.x" is of type F32 in it, and I32 in the program`) {
		t.Errorf("reals for integers: err = %v", err)
	}
	// A part that refuses after another was restored: that one is as it was.
	parts := r.parts()
	parts["zz"] = refusing{}
	both := saved.parts()
	both["zz"] = refusing{}
	b := bytesOf(t, both)
	if err := checkpoint.Read(bytes.NewReader(b), int64(len(b)), parts); err == nil || !strings.Contains(err.Error(), "refused") || !bytes.Equal(bytesOf(t, r.parts()), want) {
		t.Errorf("err = %v", err)
	}
}

type refusing struct{}

func (refusing) State() int        { return 1 }
func (refusing) Restore(int) error { return errors.New("refused") }

// TestFiles: what is wrong with a file, and not with what it holds, is no ErrCheckpoint; a file
// that cannot be written is as it was.
func TestFiles(t *testing.T) {
	d := devtest.CPU(t)
	dir := t.TempDir()
	r := newRun(d, 1)
	path := filepath.Join(dir, "x")
	for name, want := range map[string]error{path: fs.ErrNotExist, dir: nil} {
		if err := checkpoint.Load(name, r.parts()); err == nil || errors.Is(err, checkpoint.ErrCheckpoint) || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	if err := checkpoint.Save(path, r.parts()); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parts := r.parts()
	r.progress.Losses = []float64{math.NaN()}
	if err := checkpoint.Save(path, parts); err == nil || !strings.Contains(err.Error(), `part "progress"`) {
		t.Errorf("NaN: err = %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file changed (err %v)", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v", entries)
	}
	if err := os.WriteFile(path, want[:len(want)-1], 0o666); err != nil {
		t.Fatal(err)
	}
	r.progress.Losses = nil
	if err := checkpoint.Load(path, parts); !errors.Is(err, checkpoint.ErrCheckpoint) || !strings.Contains(err.Error(), path) {
		t.Errorf("err = %v", err)
	}
}

// TestFlips: every bit of a file that is flipped is found, or changes nothing of what the file
// says.
func TestFlips(t *testing.T) {
	d := devtest.CPU(t)
	value := "a"
	parts := checkpoint.State{"m": tensor.Dict{"w": devtest.New(d, []float64{1, 2}), "i": devtest.New(d, []int32{3})}, "r": tensor.NewRNG(5), "v": &value}
	raw := bytesOf(t, parts)
	found := 0
	for i := range raw {
		for bit := range 8 {
			bad := bytes.Clone(raw)
			bad[i] ^= 1 << bit
			err := checkpoint.Read(bytes.NewReader(bad), int64(len(bad)), parts)
			switch {
			case errors.Is(err, checkpoint.ErrCheckpoint):
				found++
			case err != nil || !bytes.Equal(bytesOf(t, parts), raw):
				t.Fatalf("bit %d of byte %d: err = %v", bit, i, err)
			}
		}
	}
	if found < 8*len(raw)*99/100 {
		t.Errorf("%d of %d flips were found", found, 8*len(raw))
	}
}

// TestKinds: tensors of every type, views, tied and empty ones come back; so do values of every
// kind.
func TestKinds(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		type settings struct {
			Name string
			Rate float64
			Tags map[string][]int
			Next *settings
			any  int
			net  []*nn.Linear `json:"-"`
		}
		make := func(v float64) (checkpoint.State, *settings, *int) {
			dict := tensor.Dict{"empty": tensor.Zeros(d, 0, 3), "scalar": tensor.Scalar(d, v)}
			for _, typ := range []tensor.Type{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Uint8, tensor.Float16, tensor.BFloat16, tensor.Bool,
				tensor.Int8, tensor.Int16, tensor.Int64, tensor.Uint16, tensor.Uint32, tensor.Uint64} {
				if !d.Supports(typ) {
					continue
				}
				x := tensor.Full(d, v, 2, 3).To(typ)
				dict[typ.String()], dict[typ.String()+" transposed"], dict[typ.String()+" column"] = x, x.T(), x.Copy().Slice(1, 0, 1)
			}
			s, n := &settings{any: 3}, new(int)
			return checkpoint.State{"all": dict, "settings": s, "n": n}, s, n
		}
		from, s, n := make(7)
		*s = settings{"ä", 0.1, map[string][]int{"a": {1}}, &settings{Name: "b"}, 4, nil}
		*n = math.MaxInt32
		raw := bytesOf(t, from)
		to, s2, n2 := make(0)
		if err := checkpoint.Read(bytes.NewReader(raw), int64(len(raw)), to); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytesOf(t, to), raw) || s2.Next.Name != "b" || s2.Tags["a"][0] != 1 || *n2 != *n || s2.Rate != 0.1 {
			t.Errorf("%+v %d, want %+v %d", s2, *n2, s, *n)
		}
	})
}

type (
	stateAlone  struct{ N int }
	stateOf     struct{ N int }
	stateErr    struct{ N int }
	restoreTwo  struct{ N int }
	restoreNone struct{ N int }
	restoreMany struct{ N int }
	restoreOf   struct{ N int }
	restoreInt  struct{ N int }
	asText      struct{ n string }
	asJSON      struct{ n string }
)

func (*stateAlone) State() int             { panic("it is no part by its methods") }
func (*stateOf) State(int) int             { panic("it is no part by its methods") }
func (*stateOf) Restore(int) error         { return nil }
func (*stateErr) State() (int, error)      { panic("it is no part by its methods") }
func (*stateErr) Restore(int) error        { return nil }
func (*restoreTwo) State() int             { panic("it is no part by its methods") }
func (*restoreTwo) Restore(_, _ int) error { return nil }
func (*restoreNone) State() int            { panic("it is no part by its methods") }
func (*restoreNone) Restore(int)           {}
func (*restoreMany) State() []int          { panic("it is no part by its methods") }
func (*restoreMany) Restore(...int) error  { return nil }
func (*restoreOf) State() int              { panic("it is no part by its methods") }
func (*restoreOf) Restore(string) error    { return nil }
func (*restoreInt) State() int             { panic("it is no part by its methods") }
func (*restoreInt) Restore(int) int        { return 0 }

func (a asText) MarshalText() ([]byte, error)     { return []byte(a.n), nil }
func (a *asText) UnmarshalText(text []byte) error { a.n = string(text); return nil }
func (a asJSON) MarshalJSON() ([]byte, error)     { return json.Marshal(a.n) }
func (a *asJSON) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &a.n) }

// TestValues: what is no part by its methods is one by what JSON keeps of it.
func TestValues(t *testing.T) {
	d := devtest.CPU(t)
	tensors := tensor.Dict{"x": tensor.Zeros(d)}
	for _, c := range [][2]any{ // what is saved, and what it is loaded into
		{&stateAlone{3}, &stateAlone{}}, {&stateOf{3}, &stateOf{}}, {&stateErr{3}, &stateErr{}}, {&restoreTwo{3}, &restoreTwo{}}, {&restoreNone{3}, &restoreNone{}},
		{&restoreMany{3}, &restoreMany{}}, {&restoreOf{3}, &restoreOf{}}, {&restoreInt{3}, &restoreInt{}}, {&asText{"a"}, &asText{}}, {&asJSON{"a"}, &asJSON{}},
		{&struct{}{}, &struct{}{}}, {&struct{ A any }{"a"}, &struct{ A any }{}}, {&struct{ A []struct{} }{make([]struct{}, 2)}, &struct{ A []struct{} }{}},
		{&struct {
			A int
			b struct{ c int }
		}{A: 3}, &struct {
			A int
			b struct{ c int }
		}{}},
	} {
		raw := bytesOf(t, checkpoint.State{"x": tensors, "p": c[0]})
		if err := checkpoint.Read(bytes.NewReader(raw), int64(len(raw)), checkpoint.State{"x": tensors, "p": c[1]}); err != nil || !reflect.DeepEqual(c[0], c[1]) {
			t.Errorf("%T: %+v, want %+v (err %v)", c[0], c[1], c[0], err)
		}
	}
}

// TestPartsBeforeOptimizers: the state dict of a model is right whether its optimizers were made
// before it or after.
func TestPartsBeforeOptimizers(t *testing.T) {
	d := devtest.CPU(t)
	net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 1}})
	parts := checkpoint.State{"model": nn.StateDict(net)}
	opt := optim.NewSGD(nn.Params(net), optim.SGDConfig{LR: optim.Constant(0.1)})
	step := func() {
		if err := optim.Minimize(opt, net.Forward(autograd.Const(tensor.Full(d, 1, 1, 2))).Sum()); err != nil {
			t.Fatal(err)
		}
	}
	step()
	weight := net.Layers[0].Weight.Value()
	raw, want := bytesOf(t, parts), fmt.Sprint(weight.Float64s())
	step()
	if err := checkpoint.Read(bytes.NewReader(raw), int64(len(raw)), parts); err != nil || fmt.Sprint(weight.Float64s()) != want {
		t.Errorf("%v, want %v (err %v)", fmt.Sprint(weight.Float64s()), want, err)
	}
}

// TestFunction: a function as a part is called each time, so that an optimizer may be made, and
// move the parameters, after it.
func TestFunction(t *testing.T) {
	d := devtest.CPU(t)
	net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 1}})
	parts := checkpoint.State{"model": func() tensor.Dict { return nn.StateDict(net) }}
	opt := optim.NewSGD(nn.Params(net), optim.SGDConfig{LR: optim.Constant(0.1)})
	loss := net.Forward(autograd.Const(tensor.Full(d, 1, 1, 2))).Sum()
	if err := errors.Join(loss.Backward(), opt.Step()); err != nil {
		t.Fatal(err)
	}
	raw := bytesOf(t, parts)
	if now := bytesOf(t, checkpoint.State{"model": nn.StateDict(net)}); !bytes.Equal(raw, now) {
		t.Error("what was saved is not what the model has now")
	}
	weight := net.Layers[0].Weight.Value()
	want := fmt.Sprint(weight.Float64s())
	weight.ZeroInPlace()
	if err := checkpoint.Read(bytes.NewReader(raw), int64(len(raw)), parts); err != nil || fmt.Sprint(weight.Float64s()) != want {
		t.Errorf("%v, want %v (err %v)", fmt.Sprint(weight.Float64s()), want, err)
	}
}

// TestMisuse: what is no part, and tensors that cannot be written to, are named before anything
// happens.
func TestMisuse(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	one := tensor.Dict{"x": tensor.Zeros(d, 1)}
	freed := tensor.Zeros(d)
	freed.Free()
	net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{1, 1}})
	var noOptimizer *optim.SGD
	for name, c := range map[string]struct {
		part any
		kind error
		say  string
	}{
		"nil": {nil, tensor.ErrValue, `part "p" is nil`}, "a value": {5, tensor.ErrValue, "is of type int"}, "nil pointer": {(*int)(nil), tensor.ErrValue, "is a nil *int"},
		"nil function": {(func() tensor.Dict)(nil), tensor.ErrValue, `part "p" is nil`}, "nil RNG": {(*tensor.RNG)(nil), tensor.ErrValue, `part "p" is nil`}, "nil optimizer": {noOptimizer, tensor.ErrValue, `part "p" is nil`},
		"a model": {net, tensor.ErrValue, "nn.StateDict(model)"}, "a tensor": {freed, tensor.ErrValue, "keeps nothing of a tensor.Tensor"},
		"hidden": {&struct{ a int }{1}, tensor.ErrValue, "keeps nothing of a struct { a int }"}, "hidden deep": {&struct{ A []map[string]*struct{ b int } }{}, tensor.ErrValue, "struct { b int }"},
		"a model with a setting": {&struct {
			Width int
			layer *nn.Linear
		}{1, net.Layers[0]}, tensor.ErrValue, "keeps nothing of a *nn.Linear in it"},
		"a channel behind what is left out": {&struct {
			A int `json:"-"`
			B chan int
		}{}, tensor.ErrValue, "keeps nothing of a chan int"}, "a channel behind a hidden field": {&struct {
			a int
			B chan int
		}{}, tensor.ErrValue, "keeps nothing of a chan int"},
		"a channel": {new(chan int), tensor.ErrValue, "chan int"}, "a device": {&d, tensor.ErrValue, "tensor.Device"}, "hidden state": {&hiding{}, tensor.ErrValue, "has a state of type"},
		"nil tensor": {tensor.Dict{"x": nil}, tensor.ErrValue, `tensor "p.x" is nil`}, "freed": {tensor.Dict{"x": freed}, tensor.ErrFreed, `tensor "p.x"`},
		"two devices": {tensor.Dict{"x": tensor.Zeros(other)}, tensor.ErrDevice, "one device"},
	} {
		for op, f := range map[string]func(){
			"Save": func() { _ = checkpoint.Write(&bytes.Buffer{}, checkpoint.State{"a": one, "p": c.part}) },
			"Load": func() { _ = checkpoint.Read(bytes.NewReader(nil), 0, checkpoint.State{"a": one, "p": c.part}) },
		} {
			if err := tensor.Try(f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), "checkpoint: "+op) {
				t.Errorf("%s of %s: err = %v, want %v that says %q", op, name, err, c.kind, c.say)
			}
		}
	}
	for name, c := range map[string]struct {
		parts checkpoint.State
		say   string
	}{
		"none": {nil, "no part has a tensor"}, "no tensor": {checkpoint.State{"n": new(int)}, "no part has a tensor"}, "no name": {checkpoint.State{"": one}, `is ""`}, "no UTF-8": {checkpoint.State{"\xff": one}, "UTF-8"},
		"one name": {checkpoint.State{"a": tensor.Dict{"b.x": one["x"]}, "a.b": one}, `two tensors are named "a.b.x"`},
	} {
		if err := tensor.Try(func() { _ = checkpoint.Write(&bytes.Buffer{}, c.parts) }); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	first := tensor.Zeros(d)
	repeated := checkpoint.State{"a": tensor.Dict{"first": first, "x": tensor.Zeros(d, 1).Expand(3)}}
	raw := bytesOf(t, repeated)
	first.FillInPlace(1)
	err := tensor.Try(func() { _ = checkpoint.Read(bytes.NewReader(raw), int64(len(raw)), repeated) })
	if v, _ := first.Item(); !errors.Is(err, tensor.ErrValue) || v != 1 {
		t.Errorf("repeated elements: err = %v, and the tensor before them is %v", err, v)
	}
}

type hiding struct{}

func (*hiding) State() (s struct{ a int })      { return s }
func (*hiding) Restore(s struct{ a int }) error { return nil }

// TestWeights: the weights are in the file by the names of the model, behind that of the part, in
// PyTorch's layout.
func TestWeights(t *testing.T) {
	d := devtest.CPU(t)
	r := newRun(d, 1)
	raw := bytesOf(t, r.parts())
	dict, metadata, err := tensor.ReadSafetensors(d, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	weights := tensor.Dict{}
	for name, x := range dict {
		if name, ok := strings.CutPrefix(name, "model."); ok {
			weights[name] = x
		}
	}
	other := newRun(d, 2)
	if err := nn.LoadStateDict(other.net, weights); err != nil {
		t.Fatal(err)
	}
	for name, x := range nn.StateDict(other.net) {
		a, errA := x.Float64s()
		b, errB := nn.StateDict(r.net)[name].Float64s()
		if err := errors.Join(errA, errB); err != nil || !slices.Equal(a, b) {
			t.Errorf("%s: %v, want %v (err %v)", name, a, b, err)
		}
	}
	var about struct {
		Version int
		Device  string
		Parts   map[string]struct {
			Kind  string
			State json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(metadata["clgrad.checkpoint"]), &about); err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(about.Parts)); about.Version != 1 || about.Device != d.Name() || !slices.Equal(names, []string{"adamw", "ema", "loader", "mean", "model", "plateau", "progress", "rng", "sgd"}) ||
		about.Parts["model"].Kind != "tensors" || string(about.Parts["progress"].State) != `{"Step":0,"Losses":null}` {
		t.Errorf("%+v", about)
	}
}

// FuzzRead: whatever a file holds, it is loaded, or refused with nothing changed and nothing left
// behind.
func FuzzRead(f *testing.F) {
	d, err := tensor.Open("cpu")
	if err != nil {
		f.Fatal(err)
	}
	value, w := []int{1}, devtest.New(d, []float32{1, 2})
	rng := tensor.NewRNG(3)
	parts := checkpoint.State{"m": tensor.Dict{"w": w}, "r": rng, "v": &value}
	good := bytesOf(f, parts)
	f.Add(good)
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := d.Stats().LiveBytes
		if err := checkpoint.Read(bytes.NewReader(raw), int64(len(raw)), parts); err != nil {
			if !errors.Is(err, checkpoint.ErrCheckpoint) {
				t.Fatalf("err = %v", err)
			}
			if !bytes.Equal(bytesOf(t, parts), good) {
				t.Fatal("a refusal changed something")
			}
		}
		if now := d.Stats().LiveBytes; now != before {
			t.Fatalf("%d bytes live before, %d after", before, now)
		}
		if err := checkpoint.Read(bytes.NewReader(good), int64(len(good)), parts); err != nil {
			t.Fatal(err)
		}
	})
}
