package data_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/tensor"
)

// TestForeignCSV checks that texts of other systems are errors that say so, not tables of something else.
func TestForeignCSV(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\r1,2\r":               "carriage returns alone",
		"\xff\xfea\x00\n\x001\x00": "UTF-16",
		"\xfe\xff\x00a\x00\n\x001": "UTF-16",
	} {
		if _, err := data.ReadCSV(strings.NewReader(text)); !errors.Is(err, tensor.ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"2020_01", "0x1p4", "1_0.5"} {
		table, err := data.ReadCSV(strings.NewReader("a\n" + text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Floats("a"); !errors.Is(err, tensor.ErrFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
