package imagefit

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestRecordingUndone: a fit whose step was recorded stands where one that records none does, with
// every encoding.
func TestRecordingUndone(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	img := smooth(20, 14)
	for _, kind := range Encodings {
		var at []string
		for _, eager := range []bool{false, true} {
			cfg := smallOf(kind)
			cfg.Eager = eager
			f, err := New(d, img, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Loss(); err == nil {
				t.Errorf("%s, eager %v: there is a loss before the first step", kind, eager)
			}
			at = append(at, everything(t, f, f.Model.Params()[0].Value()))
			if (f.recorded == nil) != eager {
				t.Errorf("%s, eager %v: recorded %v: %v", kind, eager, f.recorded != nil, f.whyNot)
			}
			f.Free()
		}
		if at[0] != at[1] {
			t.Errorf("%s: recorded\n%.300s\nelse\n%.300s", kind, at[0], at[1])
		}
	}
}

// TestWithoutRewrites: with the rewrites switched off a fit trains as an eager one, bit by bit, and
// says why its pass is not one launch. A word that they do not know is an error.
func TestWithoutRewrites(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	train := func(eager bool) string {
		cfg := smallOf(Frequency)
		cfg.Eager = eager
		f, err := New(d, smooth(20, 14), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Free()
		for range 5 {
			if err := f.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if one, why := f.Fused(); one || why == nil {
			t.Errorf("one launch: %v, %v", one, why)
		}
		return everything(t, f, f.loss)
	}
	want := train(true)
	for _, words := range []string{"none", "-fused-training-step"} {
		t.Setenv(replay.Env, words)
		if got := train(false); got != want {
			t.Errorf("%s: %.300s\nwant\n%.300s", words, got, want)
		}
	}
	t.Setenv(replay.Env, "nonsense")
	if _, err := New(d, smooth(20, 14), smallOf(Frequency)); !errors.Is(err, replay.ErrEnvironment) || !strings.Contains(err.Error(), `"nonsense"`) {
		t.Errorf("nonsense: %v", err)
	}
}

// TestOlderCheckpoint: a checkpoint that calls the setting as older versions did is resumed.
func TestOlderCheckpoint(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	img := smooth(12, 9)
	for _, eager := range []bool{false, true} {
		cfg := smallOf(Frequency)
		cfg.Eager = eager
		f, err := New(d, img, cfg)
		if err != nil {
			t.Fatal(err)
		}
		step := func(f *Fit) string {
			if err := f.Step(); err != nil {
				t.Fatal(err)
			}
			return everything(t, f, f.loss)
		}
		step(f)
		var b bytes.Buffer
		if err := f.WriteCheckpoint(&b); err != nil {
			t.Fatal(err)
		}
		older := edited(t, b.Bytes(), func(arrays map[string]npz.Array) {
			text := strings.ReplaceAll(string(arrays[stateName].Data.([]uint8)), `"eager"`, `"no_fuse"`)
			if !json.Valid([]byte(text)) || !strings.Contains(text, "no_fuse") {
				t.Fatal(text)
			}
			arrays[stateName] = npz.Array{Shape: []int{len(text)}, Data: []uint8(text)}
		})
		saved, err := DecodeCheckpoint(older)
		if err != nil {
			t.Fatal(err)
		}
		resumed, err := Resume(d, img, saved, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := step(resumed), step(f); got != want {
			t.Errorf("eager %v: resumed\n%.300s\nwant\n%.300s", eager, got, want)
		}
		cfg.Eager = !eager
		if _, err := Resume(d, img, saved, cfg); err == nil || !strings.Contains(err.Error(), "eager is ") {
			t.Errorf("resumed otherwise: %v", err)
		}
		resumed.Free()
		f.Free()
	}
}
