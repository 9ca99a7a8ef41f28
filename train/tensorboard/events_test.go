package tensorboard_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields are the fields of a message, by number: varints and fixed ones as bits, others as bytes.
type fields map[protowire.Number][]any

func parse(t *testing.T, b []byte) fields {
	t.Helper()
	m := fields{}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatalf("no tag in % x", b)
		}
		b = b[n:]
		var v any
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			v, n = protowire.ConsumeFixed32(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		}
		if n < 0 || v == nil {
			t.Fatalf("field %d is no value", num)
		}
		b, m[num] = b[n:], append(m[num], v)
	}
	return m
}

// at returns the only field with a number, and those below it in messages.
func (m fields) at(t *testing.T, path ...protowire.Number) any {
	t.Helper()
	for i, num := range path {
		if len(m[num]) != 1 {
			t.Fatalf("field %v stands there %d times", path[:i+1], len(m[num]))
		}
		if i == len(path)-1 {
			return m[num][0]
		}
		m = parse(t, m[num][0].([]byte))
	}
	return nil
}

// eventsOf reads the only file of a folder, whose name is that of an event file: records with the right
// checksums, each an event.
func eventsOf(t *testing.T, folder string) (events []fields) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if name := files[0].Name(); !regexp.MustCompile(`^events\.out\.tfevents\.[0-9]{10}\..+\.[0-9]+\.[0-9]+$`).MatchString(name) {
		t.Errorf("the file is called %s", name)
	}
	b, err := os.ReadFile(filepath.Join(folder, files[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	check := func(data, sum []byte) {
		t.Helper()
		crc := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
		if want := (crc>>15 | crc<<17) + 0xa282ead8; binary.LittleEndian.Uint32(sum) != want {
			t.Fatalf("the checksum of % x is % x", data, sum)
		}
	}
	for len(b) > 0 {
		n := int(binary.LittleEndian.Uint64(b))
		check(b[:8], b[8:12])
		check(b[12:12+n], b[12+n:16+n])
		events, b = append(events, parse(t, b[12:12+n])), b[16+n:]
	}
	if len(events) == 0 || string(events[0].at(t, 3).([]byte)) != "brain.Event:2" {
		t.Fatal("the first event has no version")
	}
	return events[1:]
}

// packed returns the numbers of a packed list of doubles.
func packed(t *testing.T, b []byte) (list []float64) {
	t.Helper()
	for r := bytes.NewReader(b); r.Len() > 0; {
		var bits uint64
		if err := binary.Read(r, binary.LittleEndian, &bits); err != nil {
			t.Fatal(err)
		}
		list = append(list, math.Float64frombits(bits))
	}
	return list
}
