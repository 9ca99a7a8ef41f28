package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"speech": main}) }

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	exampletest.Scripts(t, func(folder string) error {
		model, err := os.ReadFile("../../testdata/onnx/perceptron.onnx")
		if err != nil {
			return err
		}
		tone := wavOf(formatPCM, 1, 44100, 16, sine(44100, 44100, 440))
		for name, data := range map[string][]byte{
			"other.onnx": model, "tone.wav": tone, "cut.wav": tone[:30], "half.wav": tone[:len(tone)/2+1],
			"none.wav": tone[:44], "adpcm.wav": wavOf(2, 1, 44100, 4, nil),
			"fast.wav": wavOf(formatPCM, 1, math.MaxInt32, 16, nil),
		} {
			if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
				return err
			}
		}
		return nil
	})
}

// sine returns n samples of a tone.
func sine(rate, n int, hertz float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.5 * math.Sin(2*math.Pi*hertz*float64(i)/float64(rate))
	}
	return x
}

// wavOf returns a file whose channels are all x but for the last of several, which is silent.
func wavOf(format uint16, channels, rate, bits int, x []float64) []byte {
	var data []byte
	for _, v := range x {
		for c := range channels {
			if c > 0 && c == channels-1 {
				v = 0
			}
			switch {
			case format == formatFloat && bits == 32:
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
			case format == formatFloat:
				data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
			case bits == 8:
				data = append(data, byte(128+math.Round(127*v)))
			default:
				b := binary.LittleEndian.AppendUint32(nil, uint32(int32(v*(1<<31-1))))
				data = append(data, b[4-bits/8:]...)
			}
		}
	}
	var fmtChunk []byte
	le := binary.LittleEndian
	fmtChunk = le.AppendUint16(fmtChunk, format)
	fmtChunk = le.AppendUint16(fmtChunk, uint16(channels))
	fmtChunk = le.AppendUint32(fmtChunk, uint32(rate))
	fmtChunk = le.AppendUint32(fmtChunk, uint32(rate*channels*bits/8))
	fmtChunk = le.AppendUint16(fmtChunk, uint16(channels*bits/8))
	fmtChunk = le.AppendUint16(fmtChunk, uint16(bits))
	chunk := func(name string, b []byte) []byte {
		return append(le.AppendUint32([]byte(name), uint32(len(b))), b...)
	}
	body := slices.Concat([]byte("WAVE"), chunk("fmt ", fmtChunk), chunk("data", data))
	return chunk("RIFF", body)
}

// all reads what is left.
func all(t *testing.T, r *resampler) (x []float32) {
	t.Helper()
	for buffer := make([]float32, 100); ; {
		n, err := r.read(buffer)
		x = append(x, buffer[:n]...)
		if errors.Is(err, io.EOF) {
			return x
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestWAV: samples of every format are read, and channels are mixed.
func TestWAV(t *testing.T) {
	x := sine(16000, 1001, 440)
	for _, c := range []struct {
		format         uint16
		channels, bits int
		within         float64
	}{
		{formatPCM, 1, 8, 1. / 128}, {formatPCM, 1, 16, 1e-4}, {formatPCM, 2, 24, 1e-6}, {formatPCM, 3, 32, 1e-6},
		{formatFloat, 1, 32, 1e-7}, {formatFloat, 2, 64, 1e-7},
	} {
		w, err := newWAV(bytes.NewReader(wavOf(c.format, c.channels, 16000, c.bits, x)))
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		part := 1.0 // of the channels that have the tone
		if c.channels > 1 {
			part = float64(c.channels-1) / float64(c.channels)
		}
		got := all(t, newResampler(w, 16000, 16000))
		if len(got) != len(x) {
			t.Fatalf("%+v: %d samples of %d", c, len(got), len(x))
		}
		for i, v := range got {
			if !(math.Abs(float64(v)-part*x[i]) <= c.within) {
				t.Fatalf("%+v: sample %d is %v, want %v", c, i, v, part*x[i])
			}
		}
	}
}

// TestResampler: a tone stays that tone, of its length, and one above half of the new rate goes.
func TestResampler(t *testing.T) {
	for _, rate := range []int{1000, 8000, 11025, 15999, 16000, 16001, 22050, 44100, 48000, 96000, 384000} {
		const seconds = 0.3
		n := int(seconds * float64(rate))
		hertz := min(440, float64(rate)/4)
		source := func(hertz float64) *resampler {
			w, err := newWAV(bytes.NewReader(wavOf(formatFloat, 1, rate, 64, sine(rate, n, hertz))))
			if err != nil {
				t.Fatal(err)
			}
			return newResampler(w, rate, 16000)
		}
		got := all(t, source(hertz))
		if want := int(math.Ceil(float64(n) * 16000 / float64(rate))); len(got) != want {
			t.Errorf("%d a second: %d samples, want %d", rate, len(got), want)
		}
		edge := 17 * max(1, 16000/rate) // where the filter sees the silence outside
		for i, want := range sine(16000, len(got), hertz) {
			if i >= edge && i < len(got)-edge && !(math.Abs(float64(got[i])-want) < 2e-3) {
				t.Fatalf("%d a second: sample %d is %v, want %v", rate, i, got[i], want)
			}
		}
		if rate < 20000 {
			continue
		}
		for i, v := range all(t, source(9500)) {
			if i >= 40 && i < len(got)-40 && !(math.Abs(float64(v)) < 1e-3) {
				t.Fatalf("%d a second: sample %d of a tone that there is no more is %v", rate, i, v)
			}
		}
	}
}

// TestSegments: short speech is none, a short silence ends nothing, and close segments share what is between them.
func TestSegments(t *testing.T) {
	for _, c := range []struct {
		name string
		runs []int // windows of speech, of silence, and so on
		want []segment
	}{
		{"none", []int{0, 20}, nil},
		{"short", []int{7, 20}, nil},
		{"all", []int{20}, []segment{{0, 20 * window}}},
		{"one", []int{0, 10, 20, 10}, []segment{{10*window - pad, 30*window + pad}}},
		{"short silence", []int{20, 3, 20}, []segment{{0, 43 * window}}},
		{"two", []int{20, 5, 20}, []segment{{0, 20*window + pad}, {25*window - pad, 45 * window}}},
	} {
		s, n := newSegments(0.5), 0
		for i, run := range c.runs {
			for range run {
				s.add(float64(1-i%2) * 0.9)
				n += window
			}
		}
		if got := s.end(n); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestModel: a tone is no speech, in the model's two versions.
func TestModel(t *testing.T) {
	for _, name := range []string{"silero_vad_v6.onnx", "silero_repo_silero_vad_op18_ifless.onnx"} {
		path := exampletest.Model(t, name)
		devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
			model, err := onnx.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := check(model); err != nil {
				t.Fatal(err)
			}
			session, err := model.Load(d)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			w, err := newWAV(bytes.NewReader(wavOf(formatPCM, 2, 8000, 16, sine(8000, 8000, 440))))
			if err != nil {
				t.Fatal(err)
			}
			list, samples, err := find(newDetector(session, d), newResampler(w, 8000, rate))
			if err != nil || samples != 16000 || len(list) != 0 {
				t.Errorf("%v of %d samples, %v", list, samples, err)
			}
		})
	}
}
