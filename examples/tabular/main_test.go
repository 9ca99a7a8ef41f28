package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestLearns: prices are foreseen far better than without training, and what standardises them is saved.
func TestLearns(t *testing.T) {
	all, err := read("testdata/flats.csv")
	if err != nil {
		t.Fatal(err)
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		r := newRegressor(d, tensor.NewRNG(1), all.slice(0, 400))
		if err := train(d, r, all.slice(0, 400), 60); err != nil {
			t.Fatal(err)
		}
		if off, err := test(d, r, all.slice(400, 500)); err != nil || off > 0.12 {
			t.Errorf("prices are off by %v, err %v", off, err)
		}
		for _, name := range []string{"mean", "std", "district.weight", "net.layer0.weight"} {
			if nn.StateDict(r)[name] == nil {
				t.Errorf("the state dict has no %s", name)
			}
		}
	})
}

// TestRead: what is wrong with a file is said, with the line and the column.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"area,rooms,year,floor,price\n30,1,1950,2,100\n":                 "district",
		"area,rooms,year,floor,district,price\n30,1,,2,Hill,100\n":       "year",
		"area,rooms,year,floor,district,price\n30,1,1950,2,Hill,cheap\n": "line 2",
		"area,rooms,year,floor,district,price\n30,1,1950,2,Hill,100,1\n": "line 2",
		"area,rooms,year,floor,district,price\n30,1,1950,2,\"Hill,100\n": "line",
	} {
		path := filepath.Join(t.TempDir(), "flats.csv")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: err %v, want one with %q", text, err, want)
		}
	}
}
