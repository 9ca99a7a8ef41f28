package imagefit

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
)

func checkpointOf(t testing.TB, f *Fit) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.WriteCheckpoint(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestResume: a fit that is stopped, written, read and continued is, bit for bit, the one that was
// never stopped: its model, its moments and what it knows of the run. On every device, with every
// encoding, fused and not.
func TestResume(t *testing.T) {
	img := smooth(20, 14)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, kind := range Encodings {
			if testing.Short() && kind != Hash {
				continue
			}
			cfg := smallOf(kind)
			cfg.Steps, cfg.UntilFlat, cfg.LRDecay, cfg.Eager = 120, true, 0.999, kind == Fourier
			whole := run(t, d, img, cfg)
			f, err := New(d, img, cfg)
			if err != nil {
				t.Fatal(err)
			}
			for stop := range 3 { // in the middle of nothing, at a reading of the error, after none
				for range []int{37, 13, 1}[stop] {
					if f.Steps()%probeEvery == 0 && f.Steps() > 0 {
						break
					}
					ctx, cancel := context.WithCancel(context.Background())
					if _, err := f.Run(ctx, Watch{Step: func(int) error { cancel(); return nil }}); err != nil {
						t.Fatal(err)
					}
				}
				saved, err := DecodeCheckpoint(checkpointOf(t, f))
				if err != nil {
					t.Fatal(err)
				}
				steps, trained := f.Steps(), f.Trained()
				f.Free()
				if f, err = Resume(d, img, saved, saved.Config); err != nil {
					t.Fatal(err)
				}
				if off := f.Trained() - trained; off.Abs() > time.Microsecond || trained <= 0 {
					t.Errorf("resumed after %v of training, was stopped after %v", f.Trained(), trained)
				}
				if f.Steps() != steps || f.Model.Steps != steps {
					t.Fatalf("resumed at step %d, was stopped at %d", f.Steps(), steps)
				}
			}
			if _, err := f.Run(context.Background(), Watch{}); err != nil {
				t.Fatal(err)
			}
			f.spent, whole.spent = 0, 0 // the one thing in which no two runs are the same
			if !bytes.Equal(checkpointOf(t, f), checkpointOf(t, whole)) {
				t.Errorf("%s: not the fit that was never stopped", kind)
			}
			f.Free()
			whole.Free()
		}
	})
}

// TestCheckpointRefused: what is not a checkpoint, or not of this fit, says what is wrong and
// leaves nothing behind.
func TestCheckpointRefused(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	img := smooth(12, 9)
	f := run(t, d, img, smallOf(Hash))
	raw := checkpointOf(t, f)
	live := d.Stats().LiveBytes
	change := func(edit func(map[string]npz.Array)) []byte { return edited(t, raw, edit) }
	var model bytes.Buffer
	if err := f.Model.Write(&model, FP32); err != nil {
		t.Fatal(err)
	}
	put := func(array string, v float32) func(map[string]npz.Array) {
		return func(a map[string]npz.Array) { a[array].Data.([]float32)[0] = v }
	}
	for name, c := range map[string]struct {
		raw []byte
		say string
	}{
		"empty":     {nil, "npz"},
		"cut":       {raw[:len(raw)/2], "npz"},
		"flipped":   {append(append(bytes.Clone(raw[:len(raw)/3]), raw[len(raw)/3]^8), raw[len(raw)/3+1:]...), "npz"},
		"a model":   {model.Bytes(), "without the state that training resumes from"},
		"no moment": {change(func(a map[string]npz.Array) { delete(a, "v.layer0.bias") }), "v.layer0.bias"},
		"more":      {change(func(a map[string]npz.Array) { a["m.more"] = npz.Array{Shape: []int{1}, Data: []float32{0}} }), `"m.more" belongs to no such model`},
		"NaN":       {change(put("m.layer0.bias", float32(math.NaN()))), `"m.layer0.bias" holds NaN at 0`},
		"below 0":   {change(put("v.layer0.bias", -1)), `"v.layer0.bias" holds -1 at 0`},
		"infinite":  {change(put("layer0.bias", float32(math.Inf(1)))), `"layer0.bias" holds +Inf at 0`},
		"history": {change(func(a map[string]npz.Array) {
			if err := addJSON(a, stateName, Checkpoint{Config: f.Config, Steps: f.Steps(), Flat: flatness{0.1, -2}}); err != nil {
				t.Fatal(err)
			}
		}), "a mean squared error of its run is -2"},
		"no weight": {change(func(a map[string]npz.Array) { delete(a, "layer0.bias") }), "layer0.bias"},
		"steps": {change(func(a map[string]npz.Array) {
			if err := addJSON(a, stateName, Checkpoint{Config: f.Config, Steps: 7}); err != nil {
				t.Fatal(err)
			}
		}), "7 steps"},
	} {
		if _, err := DecodeCheckpoint(c.raw); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want one that says %q", name, err, c.say)
		}
	}
	saved, err := DecodeCheckpoint(raw)
	if err != nil {
		t.Fatal(err)
	}
	other := smooth(12, 9)
	other.Pixels[5] += 0.01
	wider := saved.Config
	wider.Hidden, wider.Encoding.Table, wider.Steps = 64, 64, 5000
	for name, c := range map[string]struct {
		img *Image
		cfg Config
		say []string
	}{
		"size":     {smooth(9, 12), saved.Config, []string{"12×9 pixels (rgb, 8 bits)", "9×12"}},
		"colour":   {&Image{12, 9, Colour{Gray: true}, img.Pixels[:108]}, saved.Config, []string{"gray, 8 bits"}},
		"pixels":   {other, saved.Config, []string{"another image of the same size"}},
		"settings": {img, wider, []string{"hidden is 32 in the checkpoint, 64 here", "table is 256 in the checkpoint, 64 here"}},
	} {
		_, err := Resume(d, c.img, saved, c.cfg)
		for _, say := range c.say {
			if !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), say) {
				t.Errorf("%s: err = %v, want one that says %q", name, err, say)
			}
		}
	}
	if now := d.Stats().LiveBytes; now != live {
		t.Errorf("refusals left %d bytes behind", now-live)
	}
	if m, err := DecodeModel(d, raw); err != nil || m.Steps != f.Steps() {
		t.Errorf("a checkpoint holds its model: err = %v", err)
	}
}

func FuzzDecodeCheckpoint(f *testing.F) {
	d, err := tensor.Open("cpu")
	if err != nil {
		f.Fatal(err)
	}
	good := checkpointOf(f, fuzzFit(f, d))
	f.Add(good, []byte{}, []byte{})
	arrays, err := npz.Read(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, arrays[metadataName].Data.([]uint8), arrays[stateName].Data.([]uint8))
	img := smooth(3, 2)
	f.Fuzz(func(t *testing.T, raw, metadata, state []byte) {
		if len(metadata)+len(state) > 0 { // past the checksums of the archive
			raw = edited(t, good, func(a map[string]npz.Array) {
				a[metadataName] = npz.Array{Shape: []int{len(metadata)}, Data: metadata}
				a[stateName] = npz.Array{Shape: []int{len(state)}, Data: state}
			})
		}
		saved, err := DecodeCheckpoint(raw)
		if err == nil {
			var again *Fit
			if again, err = Resume(d, img, saved, saved.Config); err == nil {
				again.Free()
			}
		}
		if err != nil && !errors.Is(err, ErrCheckpoint) {
			t.Fatal(err)
		}
	})
}
