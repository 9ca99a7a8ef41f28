package imagefit

import (
	"archive/zip"
	"bytes"
	"context"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
	"github.com/x448/float16"
)

// TestHalves: fp16 is stored as NumPy's float16, and files that hold its bits as uint16, as they
// were once written, draw the same picture.
func TestHalves(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	cfg := small()
	cfg.Steps = 5
	f := run(t, d, smooth(12, 9), cfg)
	var b bytes.Buffer
	if err := f.Model.Write(&b, FP16); err != nil {
		t.Fatal(err)
	}
	halves := 0
	older := edited(t, b.Bytes(), func(arrays map[string]npz.Array) {
		for name, a := range arrays {
			if data, ok := a.Data.([]float16.Float16); ok {
				halves++
				bits := make([]uint16, len(data))
				for i, h := range data {
					bits[i] = h.Bits()
				}
				arrays[name] = npz.Array{Shape: a.Shape, Data: bits}
			}
		}
	})
	if halves != cfg.Layers+1 {
		t.Errorf("%d matrices of float16, want %d", halves, cfg.Layers+1)
	}
	var pictures []*Image
	for _, raw := range [][]byte{b.Bytes(), older} {
		m, err := DecodeModel(d, raw)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := m.Render(context.Background(), 12, 9)
		if err != nil {
			t.Fatal(err)
		}
		pictures = append(pictures, picture)
		m.Free()
		if about, err := Inspect(raw); err != nil || about.Arrays[len(about.Arrays)-1].Type != FP16 {
			t.Errorf("%+v, err = %v", about, err)
		}
	}
	if !reflect.DeepEqual(pictures[0], pictures[1]) {
		t.Error("the bits as uint16 draw another picture")
	}
	signed := edited(t, b.Bytes(), func(arrays map[string]npz.Array) {
		a := arrays["layer0.weight"]
		arrays["layer0.weight"] = npz.Array{Shape: a.Shape, Data: make([]int16, npz.Len(a.Shape))}
	})
	if _, err := DecodeModel(d, signed); err == nil || !strings.Contains(err.Error(), "holds int16: with the weights fp16 it holds float16") {
		t.Errorf("int16: err = %v", err)
	}
	if _, err := DecodeModel(d, reheaded(t, b.Bytes(), "layer0.weight", "False", "True")); err == nil || !strings.Contains(err.Error(), "Fortran order") {
		t.Errorf("Fortran order: err = %v", err)
	}
	if _, err := DecodeModel(d, reheaded(t, b.Bytes(), "layer0.weight", "<f2", ">f2")); err == nil || !strings.Contains(err.Error(), `big-endian: save it with astype("<f2")`) {
		t.Errorf("big-endian: err = %v", err)
	}
}

// reheaded returns an archive with other text in the header of one array.
func reheaded(t *testing.T, raw []byte, name, old, text string) []byte {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range r.File {
		entry, err := fs.ReadFile(r, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == name+".npy" {
			entry = bytes.Replace(entry, []byte(old), []byte(text), 1)
			entry = bytes.Replace(entry, []byte("}"), []byte("}"+strings.Repeat(" ", len(old)-len(text))), 1) // as long as before
		}
		if w, err := z.Create(f.Name); err != nil {
			t.Fatal(err)
		} else if _, err := w.Write(entry); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
