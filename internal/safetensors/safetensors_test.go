package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/x448/float16"
)

func sample() map[string]Array {
	return map[string]Array{
		"scalar":   {[]int{}, []float64{42}},
		"vector":   {[]int{3}, []float32{1, 2, float32(math.Inf(-1))}},
		"matrix":   {[]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		"ints":     {[]int{2, 1}, []int32{math.MinInt32, math.MaxInt32}},
		"halves":   {[]int{3}, []float16.Float16{0x3c00, 0x8001, 0x7c00}},
		"brains":   {[]int{2}, []bfloat16.BFloat16{0x3f80, 0xff80}},
		"bytes <&": {[]int{5}, []uint8("a\x00\xff\"{")},
		"none":     {[]int{0, 3}, []float32{}},
		"":         {[]int{1, 1}, []uint8{7}},
		"größe":    {[]int{1}, []int32{-1}},
	}
}

func encode(t testing.TB, arrays map[string]Array, metadata map[string]string, checksum bool) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, arrays, metadata, checksum); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// decode reads all of a file.
func decode(raw []byte) (map[string]Array, map[string]string, error) {
	f, err := Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, nil, err
	}
	arrays := map[string]Array{}
	err = f.Each(func(e Entry, data any) error {
		arrays[e.Name] = Array{append([]int{}, e.Shape...), data}
		return nil
	})
	return arrays, f.Metadata, err
}

// TestRoundTrip: what is written is read again, with and without metadata and checksum, and equal
// contents make equal bytes.
func TestRoundTrip(t *testing.T) {
	for _, checksum := range []bool{false, true} {
		for _, metadata := range []map[string]string{nil, {"format": "pt", "": "„\\\" \n<>&\u2028"}} {
			raw := encode(t, sample(), metadata, checksum)
			arrays, got, err := decode(raw)
			if err != nil || !reflect.DeepEqual(arrays, sample()) {
				t.Fatalf("%v, err = %v", arrays, err)
			}
			if checksum {
				if len(got[ChecksumName]) != 64 {
					t.Errorf("the checksum is %q", got[ChecksumName])
				}
				delete(got, ChecksumName)
			}
			if len(got) != len(metadata) || len(metadata) > 0 && !reflect.DeepEqual(got, metadata) {
				t.Errorf("metadata %q, want %q", got, metadata)
			}
			if !bytes.Equal(raw, encode(t, sample(), metadata, checksum)) {
				t.Error("equal contents made different bytes")
			}
		}
	}
}

// file returns a file of a header and data. TestLarge: tensors of several pieces come back, and the
// longest header that there may be is written and read.
func TestLarge(t *testing.T) {
	arrays := map[string]Array{}
	for _, n := range []int{piece, piece + 1, 2*piece + 7} {
		data := make([]int32, n)
		for i := range data {
			data[i] = int32(i * i)
		}
		arrays[fmt.Sprint(n)] = Array{[]int{n}, data}
	}
	if got, _, err := decode(encode(t, arrays, nil, true)); err != nil || !reflect.DeepEqual(got, arrays) {
		t.Errorf("what has several pieces is not what it was: err = %v", err)
	}
	around := len(encode(t, nil, map[string]string{"a": strings.Repeat("x", 8)}, false)) - 8 - 8 // without the length, and the text
	if err := Write(io.Discard, nil, map[string]string{"a": strings.Repeat("x", mostHeader-around)}, false); err != nil {
		t.Errorf("the longest header: err = %v", err)
	}
	for length, ok := range map[int64]bool{mostHeader: true, mostHeader + 1: false} {
		if _, err := Open(spaced(length), 8+length); (err == nil) != ok || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("a header of %d bytes: err = %v", length, err)
		}
	}
}

// spaced is a file of an empty header of so many bytes.
type spaced int64

func (s spaced) ReadAt(p []byte, off int64) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	if off < 10 {
		copy(p, append(binary.LittleEndian.AppendUint64(nil, uint64(s)), "{}"...)[off:])
	}
	return len(p), nil
}

func file(header, data string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+data...)
}

// TestBytes: a file is what the format says, to the byte.
func TestBytes(t *testing.T) {
	got := encode(t, map[string]Array{"b": {[]int{2}, []float32{1, -2}}, "a": {[]int{}, []uint8{7}}}, map[string]string{"k": "v"}, false)
	want := file(`{"__metadata__":{"k":"v"},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"U8","shape":[],"data_offsets":[8,9]}}`+"      ",
		"\x00\x00\x80\x3f\x00\x00\x00\xc0\x07")
	if !bytes.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := encode(t, nil, nil, false); !bytes.Equal(got, file("{}      ", "")) {
		t.Errorf("%q of nothing", got)
	}
}

// TestFiles: files that another program wrote are read, and the one of types in the order of
// Python's package.
func TestFiles(t *testing.T) {
	read := func(name string) (map[string]Array, map[string]string) {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "safetensors", name+".safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		arrays, metadata, err := decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		return arrays, metadata
	}
	arrays, metadata := read("types")
	if want := map[string]string{"format": "pt", "wörter": "„so“ \\ \n"}; !reflect.DeepEqual(metadata, want) {
		t.Errorf("metadata %q", metadata)
	}
	inf, nan := math.Inf(1), math.NaN()
	for name, want := range map[string]any{
		"BOOL": []bool{true, false, false, true, true, false}, "U8": []uint8{0, 255, 0, 1, 2, 3}, "I8": []int8{-128, 127, 0, 1, 2, 3},
		"I16": []int16{math.MinInt16, math.MaxInt16, 0, 1, 2, 3}, "U16": []uint16{0, math.MaxUint16, 0, 1, 2, 3},
		"I32": []int32{math.MinInt32, math.MaxInt32, 0, 1, 2, 3}, "U32": []uint32{0, math.MaxInt32, 0, 1, 2, 3},
		"I64": []int64{math.MinInt32, math.MaxInt32, 0, 1, 2, 3}, "U64": []uint64{0, math.MaxInt32, 0, 1, 2, 3},
		"F16":  []float16.Float16{0x3800, 0xc000, 0x7c00, 0xfc00, 0x7e00, 0x0400},
		"BF16": []bfloat16.BFloat16{0x3f00, 0xc000, 0x7f80, 0xff80, 0x7fc0, 0x3880},
		"F32":  []float32{0.5, -2, float32(inf), -float32(inf), float32(nan), 0x1p-14},
		"F64":  []float64{0.5, -2, inf, -inf, nan, 0x1p-14},
	} {
		// %v, since NaN is not equal to itself.
		if a := arrays["types."+name]; fmt.Sprintf("%v %T", a, a.Data) != fmt.Sprintf("%v %T", Array{[]int{2, 3}, want}, want) {
			t.Errorf("%s: %v, want %v", name, a, want)
		}
	}
	if s, n := arrays["scalar"], arrays["nothing"]; len(arrays) != 15 || !reflect.DeepEqual(s, Array{[]int{}, []float32{42}}) || !reflect.DeepEqual(n, Array{[]int{0, 3}, []int32{}}) {
		t.Errorf("%d tensors, %v, %v", len(arrays), s, n)
	}
	arrays, metadata = read("unordered")
	if want := map[string]Array{"größe": {[]int{1}, []float64{0.1}}, "a": {[]int{3}, []uint8{1, 2, 3}}, "m": {[]int{2, 2}, []float32{1, 2, 3, 4}}}; !reflect.DeepEqual(arrays, want) || metadata != nil {
		t.Errorf("%v, metadata %v", arrays, metadata)
	}
	if arrays, _ = read("empty"); len(arrays) != 0 {
		t.Errorf("%v", arrays)
	}
}

// TestLowBits: every byte of the floats of 8 and 4 bits is read, and written as Python's package writes it.
func TestLowBits(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "safetensors", "lowbit.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	arrays, metadata, err := decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	whole, ok := arrays["whole.F8_E4M3"].Data.([]lowbit.Float8E4M3FN)
	pairs, ok2 := arrays["whole.F4"].Data.([]lowbit.Float4E2M1)
	if !ok || !ok2 || len(whole) != 256 || len(pairs) != 512 {
		t.Fatalf("%v", arrays)
	}
	for b := range 256 {
		if whole[b] != lowbit.Float8E4M3FN(b) || pairs[2*b] != lowbit.Float4E2M1(b&15) || pairs[2*b+1] != lowbit.Float4E2M1(b>>4) {
			t.Errorf("byte %#x is %v, and the pair %v", b, whole[b], pairs[2*b:2*b+2])
		}
	}
	if again := encode(t, arrays, metadata, false); !bytes.Equal(again, raw) {
		t.Errorf("written again it is\n%q", again)
	}
}

// TestRefused: each damage is named, and asks for no memory that the file does not have.
func TestRefused(t *testing.T) {
	one := func(fields string) string { return `{"x":{` + fields + `}}` }
	const info = `"dtype":"F32","shape":[1],"data_offsets":[0,4]`
	const other = `"dtype":"U8","shape":[2],"data_offsets":`
	length := func(n uint64) []byte { return append(binary.LittleEndian.AppendUint64(nil, n), "{}"...) }
	for name, c := range map[string]struct {
		raw []byte
		say string
	}{
		"nothing":             {nil, "it has 0 bytes"},
		"seven bytes":         {make([]byte, 7), "it has 7 bytes"},
		"no header":           {make([]byte, 8), `it does not begin with "{"`},
		"long header":         {length(3), "a header of 3 bytes in a file of 10: it is cut off"},
		"longer header":       {length(1 << 40), "a header has 100000000 at most"},
		"negative header":     {length(math.MaxUint64), "a header of 18446744073709551615 bytes"},
		"a list":              {file("[]", ""), `it does not begin with "{"`},
		"a space":             {file(" {}", ""), `it does not begin with "{"`},
		"cut off":             {file(`{"x":`, ""), "no JSON"},
		"no name":             {file(`{1:2}`, ""), "no JSON"},
		"more":                {file(`{}{}`, ""), "extends past its end"},
		"no UTF-8":            {file("{\"\xff\":{}}", ""), "not UTF-8"},
		"a number":            {file(`{"x":1}`, ""), `tensor "x": an object is wanted`},
		"no fields":           {file(`{"x":{}}`, ""), `tensor "x": it needs a dtype`},
		"no dtype":            {file(one(`"shape":[1],"data_offsets":[0,4]`), "abcd"), "it needs a dtype"},
		"no shape":            {file(one(`"dtype":"F32","data_offsets":[0,4]`), "abcd"), "it needs a dtype, a shape"},
		"no offsets":          {file(one(`"dtype":"F32","shape":[1]`), "abcd"), "two data_offsets"},
		"one offset":          {file(one(`"dtype":"F32","shape":[1],"data_offsets":[4]`), "abcd"), "two data_offsets"},
		"three offsets":       {file(one(`"dtype":"F32","shape":[1],"data_offsets":[0,2,4]`), "abcd"), "two data_offsets"},
		"dtype of no text":    {file(one(`"dtype":32,"shape":[1],"data_offsets":[0,4]`), "abcd"), "it needs a dtype"},
		"shape of no numbers": {file(one(`"dtype":"F32","shape":["1"],"data_offsets":[0,4]`), "abcd"), "a list of numbers is wanted"},
		"nested shape":        {file(one(`"dtype":"F32","shape":[[1]],"data_offsets":[0,4]`), "abcd"), "a list of numbers is wanted"},
		"no list":             {file(one(`"dtype":"F32","shape":1,"data_offsets":[0,4]`), "abcd"), "a list of numbers is wanted"},
		"fraction":            {file(one(`"dtype":"F32","shape":[1.0],"data_offsets":[0,4]`), "abcd"), "1.0 is no whole number"},
		"exponent":            {file(one(`"dtype":"F32","shape":[1e0],"data_offsets":[0,4]`), "abcd"), "1e0 is no whole number"},
		"negative shape":      {file(one(`"dtype":"F32","shape":[-1],"data_offsets":[0,4]`), "abcd"), "-1 is no whole number"},
		"huge number":         {file(one(`"dtype":"F32","shape":[18446744073709551617],"data_offsets":[0,4]`), "abcd"), "is no whole number"},
		"huge shape":          {file(one(`"dtype":"F32","shape":[65536,65536,65536,65536],"data_offsets":[0,0]`), ""), "impossible shape"},
		"huge bytes":          {file(one(`"dtype":"F64","shape":[65536,65536,65536,8192],"data_offsets":[0,0]`), ""), "impossible shape"},
		"huge claim":          {file(one(`"dtype":"F32","shape":[500000000],"data_offsets":[0,2000000000]`), "abcd"), "its data end at 2000000000, and there are 4 bytes"},
		"wrong size":          {file(one(`"dtype":"F32","shape":[2],"data_offsets":[0,4]`), "abcd"), "shape [2] of F32 is 8 bytes, and its data are from 0 to 4"},
		"backwards":           {file(one(`"dtype":"F32","shape":[1],"data_offsets":[4,0]`), "abcd"), "its data are from 4 to 0"},
		"negative offset":     {file(one(`"dtype":"F32","shape":[1],"data_offsets":[-4,0]`), "abcd"), "-4 is no whole number"},
		"gap at the start":    {file(one(`"dtype":"F32","shape":[1],"data_offsets":[4,8]`), "abcdefgh"), "no tensor has the bytes from 0 on"},
		"gap":                 {file(`{"x":{`+info+`},"y":{`+other+`[5,7]}}`, "abcdefg"), `tensor "y": its data begin at 5, and no tensor has the bytes from 4 on`},
		"overlap":             {file(`{"x":{`+info+`},"y":{`+other+`[3,5]}}`, "abcde"), `tensor "y": its data begin at 3, inside of those of another, which end at 4`},
		"the same bytes":      {file(`{"x":{`+info+`},"y":{`+info+`}}`, "abcd"), "inside of those of another"},
		"too much":            {file(one(info), "abcde"), "the data of its tensors end at 4, and there are 5 bytes"},
		"too little":          {file(one(info), "abc"), "its data end at 4, and there are 3 bytes: it is cut off"},
		"twice":               {file(`{"x":{`+info+`},"x":{`+info+`}}`, "abcd"), `"x" is there twice`},
		"twice, escaped":      {file(`{"x":{`+info+`},"\u0078":{`+info+`}}`, "abcd"), `"x" is there twice`},
		"field twice":         {file(one(`"dtype":"F32",`+info), "abcd"), `"dtype" is there twice`},
		"metadata twice":      {file(`{"__metadata__":{"a":"b","a":"b"}}`, ""), `"a" is there twice`},
		"metadata of numbers": {file(`{"__metadata__":{"a":1}}`, ""), `the metadata "a" are no text`},
		"metadata as a list":  {file(`{"__metadata__":[]}`, ""), "an object is wanted"},
		"damaged field":       {file(one(info+`,"more":[1,]`), "abcd"), "no JSON"},
		"small floats":        {file(one(`"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]`), "abc"), `tensor "x": floats of 6 bits ("F6_E2M3") does not fit: BOOL, I8 to I64`},
		"half a byte":         {file(one(`"dtype":"F4","shape":[3],"data_offsets":[0,2]`), "ab"), `tensor "x": shape [3]: elements of 4 bits fill no whole number of bytes`},
		"another type":        {file(one(`"dtype":"f32","shape":[1],"data_offsets":[0,4]`), "abcd"), `the type "f32" does not fit`},
		"deep":                {file(one(info+`,"more":`+strings.Repeat("[", 1<<20)), "abcd"), "no JSON"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := decode(c.raw)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want one that says %q", name, err, c.say)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<23 {
			t.Errorf("%s: %d bytes were asked for", name, took)
		}
	}
	for name, raw := range map[string][]byte{
		"unknown fields": file(one(`"new":{"a":[1,{}]},`+info), "abcd"), "no metadata": file(`{"__metadata__":{},"x":{`+info+`}}  `, "abcd"),
		"null metadata": file(`{"__metadata__":null,"x":{`+info+`}}`, "abcd"),
		"empty beside":  file(`{"x":{`+info+`},"y":{"dtype":"F64","shape":[0],"data_offsets":[4,4]},"z":{"dtype":"F64","shape":[3,0,9999999],"data_offsets":[0,0]}}`, "abcd"),
	} {
		if _, _, err := decode(raw); err != nil {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

// TestDamage: of a file with a checksum, every cut and every flipped bit is an error, takes the
// name of the checksum away, or leaves the contents as they were.
func TestDamage(t *testing.T) {
	metadata := map[string]string{"k": "v"}
	raw := encode(t, sample(), metadata, true)
	for i := range raw {
		if _, _, err := decode(raw[:i]); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut after %d bytes: err = %v", i, err)
		}
	}
	if _, _, err := decode(append(bytes.Clone(raw), 0)); !errors.Is(err, ErrFormat) {
		t.Error("a byte more is no error")
	}
	_, want, _ := decode(raw)
	found := 0
	for i := range raw {
		for bit := range 8 {
			bad := bytes.Clone(raw)
			bad[i] ^= 1 << bit
			arrays, got, err := decode(bad)
			switch {
			case errors.Is(err, ErrFormat), err == nil && got[ChecksumName] == "": // whoever wants one finds that it is gone
				found++
			case err != nil || !reflect.DeepEqual(arrays, sample()) || !reflect.DeepEqual(got, want):
				t.Fatalf("bit %d of byte %d: err = %v, %v", bit, i, err, arrays)
			}
		}
	}
	if found < 8*len(raw)*99/100 {
		t.Errorf("%d of %d flipped bits were found", found, 8*len(raw))
	}
}

// TestChecksumOf: a checksum is that of the contents, in whichever form the header has them.
func TestChecksumOf(t *testing.T) {
	raw := encode(t, map[string]Array{"x": {[]int{1}, []uint8{7}}}, nil, true)
	text := string(raw[8:])
	spaced := strings.Replace(strings.TrimRight(text[:len(text)-1], " "), `{"dtype":"U8","shape":[1],`, `{ "shape": [1], "dtype": "U8", `, 1)
	if arrays, _, err := decode(file(spaced, "\x07")); err != nil || len(arrays) != 1 {
		t.Errorf("%s: err = %v", spaced, err)
	}
	if _, _, err := decode(file(spaced, "\x08")); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "its checksum is not that of its contents") {
		t.Errorf("err = %v", err)
	}
}

// TestWriteRefuses: what could not be read again is not written.
func TestWriteRefuses(t *testing.T) {
	x := Array{[]int{1}, []uint8{1}}
	for _, c := range []struct {
		arrays   map[string]Array
		metadata map[string]string
	}{
		{map[string]Array{"a": {[]int{2}, []float32{1}}}, nil}, {map[string]Array{"a": {[]int{0, 3}, []float32{1}}}, nil}, {map[string]Array{"a": {[]int{-1, -1}, []float32{1}}}, nil},
		{map[string]Array{"a": {[]int{1}, []complex64{1}}}, nil}, {map[string]Array{"a": {[]int{}, nil}}, nil}, {map[string]Array{"__metadata__": x}, nil},
		{map[string]Array{"a\xff": x}, nil}, {nil, map[string]string{"a\xff": ""}}, {nil, map[string]string{"a": "\xff"}}, {nil, map[string]string{ChecksumName: ""}},
		{nil, map[string]string{"a": strings.Repeat("x", mostHeader)}},
		{map[string]Array{"a": {[]int{3}, []lowbit.Float4E2M1{1, 2, 3}}}, nil}, {map[string]Array{"a": {[]int{1}, []lowbit.Int4{1}}}, nil},
		{map[string]Array{"a": {[]int{2}, []lowbit.Float4E2M1{1, 2, 3}}}, nil},
	} {
		if err := Write(io.Discard, c.arrays, c.metadata, false); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%v: err = %v", c.arrays, err)
		}
	}
	for n := range len(encode(t, sample(), nil, true)) {
		if err := Write(&limited{n}, sample(), nil, true); !errors.Is(err, errFull) {
			t.Fatalf("after %d bytes: err = %v", n, err)
		}
	}
}

var errFull, errDisk = errors.New("disk full"), errors.New("disk error")

type limited struct{ left int }

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// failing is a file whose disk fails from a byte on.
type failing struct {
	raw  []byte
	from int64
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return copy(p, f.raw[off:]), nil
}

// TestDiskErrors: a disk that fails is not a damaged file; a file that became shorter is.
func TestDiskErrors(t *testing.T) {
	raw := encode(t, sample(), nil, true)
	for from := range raw {
		f, err := Open(failing{raw, int64(from)}, int64(len(raw)))
		if err == nil {
			err = f.Each(func(Entry, any) error { return nil })
		}
		if !errors.Is(err, errDisk) || errors.Is(err, ErrFormat) {
			t.Fatalf("from byte %d: err = %v", from, err)
		}
		f, err = Open(bytes.NewReader(raw[:from]), int64(len(raw)))
		if err == nil {
			err = f.Each(func(Entry, any) error { return nil })
		}
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "cut off") {
			t.Fatalf("cut at byte %d: err = %v", from, err)
		}
	}
	f, err := Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Each(func(Entry, any) error { return errFull }); err != errFull {
		t.Errorf("err = %v", err)
	}
}

// FuzzOpen: whatever a file holds, it is read, or refused by ErrFormat; what is read is as large as
// it says.
func FuzzOpen(f *testing.F) {
	f.Add(encode(f, sample(), map[string]string{"k": "v"}, true))
	f.Add(file(`{"x":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]},"y":{"dtype":"BOOL","shape":[],"data_offsets":[4,5]}}`, "abcde"))
	f.Add(file(`{"x":{"dtype":"I64","shape":[0],"data_offsets":[0,0]},"\u0078":{"z":[{}],"dtype":"U64","shape":[1],"data_offsets":[0,8]}}`, "abcdefgh"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		arrays, metadata, err := decode(raw)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("err = %v", err)
			}
			return
		}
		writable := map[string]Array{}
		for name, a := range arrays {
			n := reflect.ValueOf(a.Data).Len()
			want := 1
			for _, d := range a.Shape {
				want *= d
			}
			if n != want {
				t.Fatalf("%q: shape %v with %d elements", name, a.Shape, n)
			}
			if _, _, err := kindOf(a.Data); err == nil {
				writable[name] = a
			}
		}
		delete(metadata, ChecksumName)
		again, _, err := decode(encode(t, writable, metadata, true))
		if err != nil || len(again) != len(writable) {
			t.Fatalf("written and read again: %d of %d tensors, err = %v", len(again), len(writable), err)
		}
	})
}
