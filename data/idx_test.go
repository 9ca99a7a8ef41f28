package data_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// idx returns a file of a type, dimensions and data.
func idx(kind byte, content string, dims ...uint32) []byte {
	raw := []byte{0, 0, kind, byte(len(dims))}
	for _, d := range dims {
		raw = binary.BigEndian.AppendUint32(raw, d)
	}
	return append(raw, content...)
}

func zipped(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestIDX: every type is read, compressed or not, from a reader and from a file.
func TestIDX(t *testing.T) {
	d := devtest.CPU(t)
	for _, c := range []struct {
		raw  []byte
		typ  tensor.Type
		want string
	}{
		{idx(0x08, "\x00\x01\x80\xff", 2, 2), tensor.Uint8, "[0 1 128 255]"}, {idx(0x09, "\x00\x01\x80\xff", 2, 2), tensor.Int32, "[0 1 -128 -1]"},
		{idx(0x0b, "\x00\x01\x80\x00\xff\xff\x01\x00", 2, 2), tensor.Int32, "[1 -32768 -1 256]"},
		{idx(0x0c, "\x00\x00\x00\x01\x80\x00\x00\x00\xff\xff\xff\xff\x00\x01\x00\x00", 2, 2), tensor.Int32, "[1 -2.147483648e+09 -1 65536]"},
		{idx(0x0d, "\x3f\x80\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x00\x7f\x80\x00\x00", 2, 2), tensor.Float32, "[1 -2 0 +Inf]"},
		{idx(0x0e, "\x3f\xf0\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x00"+strings.Repeat("\x00", 16), 2, 2), tensor.Float64, "[1 -2 0 0]"},
	} {
		path := filepath.Join(t.TempDir(), "x")
		for _, raw := range [][]byte{c.raw, zipped(t, c.raw)} {
			if err := os.WriteFile(path, raw, 0o666); err != nil {
				t.Fatal(err)
			}
			read, err := data.ReadIDX(iotest.OneByteReader(bytes.NewReader(raw)))
			loaded, err2 := data.LoadIDX(path)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			for _, a := range []data.Array{read, loaded} {
				if x := a.Tensor(d); x.Type() != c.typ || !slices.Equal(x.Shape(), []int{2, 2}) || fmt.Sprint(devtest.Float64s(t, x)) != c.want {
					t.Errorf("%v %v, want %v of %v", x, devtest.Float64s(t, x), c.want, c.typ)
				}
			}
		}
	}
	if a, err := data.ReadIDX(bytes.NewReader(idx(0x08, "", 0, math.MaxInt32, math.MaxInt32, math.MaxInt32))); err != nil || a.Len() != 0 {
		t.Errorf("no rows: %v, err = %v", a.Shape(), err)
	}
}

// TestIDXRefused: damage is named, and asks for no memory that the file does not have.
func TestIDXRefused(t *testing.T) {
	good := zipped(t, idx(0x08, "abcd", 4))
	sum := bytes.Clone(good)
	sum[len(sum)-8] ^= 1
	dir := t.TempDir()
	for name, c := range map[string]struct {
		raw []byte
		say string
	}{
		"nothing":        {nil, "it is cut off"},
		"three bytes":    {[]byte{0, 0, 8}, "it is cut off"},
		"no magic":       {[]byte("PNG 1234"), "does not begin with two zeros"},
		"one first":      {[]byte{1, 0, 8, 1, 0, 0, 0, 1, 7}, "does not begin with two zeros"},
		"one second":     {[]byte{0, 1, 8, 1, 0, 0, 0, 1, 7}, "does not begin with two zeros"},
		"no axis":        {[]byte{0, 0, 8, 0, 7}, "a number of axes"},
		"another type":   {idx(0x0a, "a", 1), "its type is 0x0a"},
		"no dimensions":  {[]byte{0, 0, 8, 2, 0, 0, 0, 1}, "it is cut off"},
		"too little":     {idx(0x0b, "abc", 2), "shape [2] of int16 is 4 bytes, and there are 3"},
		"too much":       {idx(0x08, "abc", 2), "it has more after shape [2] of uint8, which is 2 bytes"},
		"huge dimension": {idx(0x08, "abc", 1<<31), "one of its dimensions is 2147483648"},
		"huge shape":     {idx(0x0e, "abc", math.MaxInt32, math.MaxInt32, math.MaxInt32), "is more than the file can hold"},
		"huge claim":     {idx(0x08, "abc", 1<<30), ""},
		"huge in gzip":   {zipped(t, idx(0x08, "abc", 1<<30)), ""},
		"255 axes":       {idx(0x08, "", slices.Repeat([]uint32{1 << 20}, 255)...), "is more than the file can hold"},
		"cut gzip":       {good[:len(good)-9], "it is cut off"},
		"cut checksum":   {good[:len(good)-1], "it is cut off"},
		"checksum":       {sum, "not a readable IDX file: gzip"},
		"gzip alone":     {[]byte("\x1f\x8b"), "it is cut off"},
		"no gzip":        {[]byte("\x1f\x8babcdefghijkl"), "not a readable IDX file: gzip"},
		"after gzip":     {append(bytes.Clone(good), "more than ten bytes"...), "not a readable IDX file: gzip"},
	} {
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, c.raw, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, read := range []func() (data.Array, error){
			func() (data.Array, error) { return data.ReadIDX(bytes.NewReader(c.raw)) }, func() (data.Array, error) { return data.LoadIDX(path) },
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := read()
			runtime.ReadMemStats(&after)
			if !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), c.say) {
				t.Errorf("%s: err = %v, want one that says %q", name, err, c.say)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 1<<22 {
				t.Errorf("%s: %d bytes were asked for", name, took)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "y"), idx(0x08, "abc", 1<<30), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := data.LoadIDX(filepath.Join(dir, "y")); err == nil || !strings.Contains(err.Error(), "more than the file can hold") {
		t.Errorf("a claim beyond what gzip could make of the file: err = %v", err)
	}
	broken := errors.New("disk error")
	for n := range len(good) {
		_, err := data.ReadIDX(io.MultiReader(bytes.NewReader(good[:n]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || errors.Is(err, tensor.ErrFormat) {
			t.Errorf("a disk that fails after %d bytes: err = %v", n, err)
		}
	}
	if _, err := data.LoadIDX(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
	if _, err := data.LoadIDX(dir); err == nil || errors.Is(err, tensor.ErrFormat) {
		t.Errorf("a folder: err = %v", err)
	}
}

// FuzzReadIDX: whatever a file holds, it is read or refused by tensor.ErrFormat.
func FuzzReadIDX(f *testing.F) {
	f.Add(idx(0x08, "abcd", 2, 2))
	f.Add(idx(0x0e, "abcdefgh", 1, 1))
	f.Add(zipped(f, idx(0x0b, "abcd", 2)))
	f.Add(idx(0x0c, "", 0, math.MaxUint32))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := data.ReadIDX(bytes.NewReader(raw))
		if err != nil {
			if !errors.Is(err, tensor.ErrFormat) {
				t.Fatalf("err = %v", err)
			}
			return
		}
		if a.Len() != a.Shape()[0] {
			t.Fatalf("%v", a.Shape())
		}
	})
}
