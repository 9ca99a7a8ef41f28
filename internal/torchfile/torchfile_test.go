package torchfile_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/torchfile"
)

// archive returns an archive with a pickle, and a storage of 64 bytes.
func archive(t testing.TB, pickle string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"a/data.pkl": pickle, "a/data/0": strings.Repeat("\x00\x00\x80\x3f", 16)} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// view is a pickle of a tensor of 16 floats, with an offset, a shape and strides.
func view(offset, shape, strides string) string {
	return "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x10tQ" + offset + shape + strides + "\x89NtR."
}

// pairs is a pickle of a tensor of 16 bytes of two floats each.
func pairs(shape, strides string) string {
	text := strings.NewReplacer("_v2", "_v3", "ctorch\nFloatStorage", "ctorch.storage\nUntypedStorage", "\x89NtR.",
		"\x89Nctorch\nfloat4_e2m1fn_x2\ntR.")
	return text.Replace(view("K\x00", shape, strides))
}

// TestHostilePickles: what a pickle may say that is no state dict, or no end of one, is an error, and
// takes no memory, no time and no other way out.
func TestHostilePickles(t *testing.T) {
	deep := "\x80\x02" + strings.Repeat("]", 100) + strings.Repeat("a", 99) + "."
	doubled := "\x80\x02]q\x00" // each list has the one before twice
	for i := range 60 {
		doubled += "]q" + string(rune(i+1)) + "(h" + string(rune(i)) + "h" + string(rune(i)) + "e"
		doubled += "q\x7f0h\x7f" // is on top alone
	}
	for what, c := range map[string]struct{ pickle, say string }{
		"nothing":                  {"", "ends in the middle"},
		"no end":                   {"\x80\x02}", "ends in the middle"},
		"two values":               {"\x80\x02}}.", "ends with 2 values"},
		"no value":                 {"\x80\x02.", "ends with 0 values"},
		"protocol 9":               {"\x80\x09}.", "protocol 9"},
		"a call of os.system":      {"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", "os.system"},
		"an object of os.system":   {"\x80\x02cos\nsystem\n)\x81.", "os.system"},
		"a string of 4 GB":         {"\x80\x02X\xff\xff\xff\xffab.", "ends in the middle"},
		"a mark that is not there": {"\x80\x02t.", "mark that is not there"},
		"pairs that are turned":    {pairs("K\x02K\x03\x86", "K\x01K\x02\x86"), "float4_e2m1fn_x2 whose last axis is not contiguous"},
		"a pair without an axis":   {pairs(")", ")"), "float4_e2m1fn_x2 whose last axis is not contiguous"},
		"pairs beyond the storage": {pairs("K\x11\x85", "K\x01\x85"), "of a storage of 16"},
		"itself":                   {"\x80\x02]q\x00h\x00a.", "lies in itself"},
		"deep":                     {deep, "more than 64 deep"},
		"another instruction":      {"\x80\x02\x8f.", "0x8f"},
		"a value not made":         {"\x80\x02h\x05.", "value 5 again"},
		"beyond the storage":       {view("K\x01", "K\x10\x85", "K\x01\x85"), "of a storage of 16"},
		"a negative offset":        {view("J\xff\xff\xff\xff", "K\x01\x85", "K\x01\x85"), "from element -1 on"},
		"a negative dimension":     {view("K\x00", "J\xff\xff\xff\xff\x85", "K\x01\x85"), "of shape [-1]"},
		"a negative stride":        {view("K\x03", "K\x02\x85", "J\xff\xff\xff\xff\x85"), "with strides [-1]"},
		"2³² elements":             {view("K\x00", "J\x00\x00\x01\x00J\x00\x00\x01\x00\x86", "K\x00K\x00\x86"), "at most 2147483647"},
		"2³⁰ elements of one":      {view("K\x00", "J\x00\x00\x00\x40\x85", "K\x00\x85"), "sixteen times"},
		"strides of another rank":  {view("K\x00", "K\x02\x85", ")"), "1 axes and 0 strides"},
	} {
		data := archive(t, c.pickle)
		err := torchfile.Each(bytes.NewReader(data), int64(len(data)), func(torchfile.Array) error { return nil })
		if !errors.Is(err, torchfile.ErrFormat) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want one that says %q", what, err, c.say)
		}
	}
	n := 0
	data := archive(t, view("K\x02", "K\x02K\x03\x86", "K\x04K\x01\x86"))
	if err := torchfile.Each(bytes.NewReader(data), int64(len(data)), func(a torchfile.Array) error {
		n += len(a.Data.([]float32))
		return nil
	}); err != nil || n != 6 {
		t.Errorf("a view that is whole: %d elements, err = %v", n, err)
	}
	data = archive(t, doubled+".")
	if err := torchfile.Each(bytes.NewReader(data), int64(len(data)), func(torchfile.Array) error { return nil }); !errors.Is(err, torchfile.ErrFormat) {
		t.Errorf("lists of lists twice each: err = %v", err)
	}
}

// FuzzEach: whatever the pickle of an archive says is an error of the format, or tensors of as many
// elements as their shapes say.
func FuzzEach(f *testing.F) {
	files, err := filepath.Glob("../../testdata/pytorch/*.pt")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		z, err := zip.OpenReader(name)
		if err != nil { // of PyTorch before 1.6
			continue
		}
		for _, file := range z.File {
			if filepath.Base(file.Name) != "data.pkl" {
				continue
			}
			r, err := file.Open()
			if err != nil {
				f.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
		z.Close()
	}
	f.Add(view("K\x00", "K\x04\x85", "K\x02\x85"))
	f.Fuzz(func(t *testing.T, pickle string) {
		data := archive(t, pickle)
		err := torchfile.Each(bytes.NewReader(data), int64(len(data)), func(a torchfile.Array) error {
			n := 1
			for _, d := range a.Shape {
				n *= d
			}
			if have := length(a.Data); have != n {
				t.Errorf("%q has %d elements in shape %v", a.Name, have, a.Shape)
			}
			return nil
		})
		if err != nil && !errors.Is(err, torchfile.ErrFormat) {
			t.Error(err)
		}
	})
}

func length(data any) int { return reflect.ValueOf(data).Len() }
