package catalog

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/npz"
)

// references returns the arrays of a family: that of the line "out0" under "[Softmax.rows]" is
// Softmax.rows.out0.
func references(t *testing.T, f family) map[string]npz.Array {
	t.Helper()
	path := "../../testdata/references/" + f.name + ".txt"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refs := map[string]npz.Array{}
	section := ""
	for i, line := range strings.Split(string(text), "\n") {
		name, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '[':
			name, _, _ = strings.Cut(line[1:], "]")
			section = name + "."
			continue
		}
		a, err := parseArray(strings.Fields(rest))
		if _, twice := refs[section+name]; twice {
			err = fmt.Errorf("it is there twice")
		}
		if err != nil {
			t.Fatalf("%s:%d: %s%s: %v", path, i+1, section, name, err)
		}
		refs[section+name] = a
	}
	return refs
}

// parseArray reads the words of an array, such as "int32[2,2]", "1", "2", "3", "4".
func parseArray(words []string) (npz.Array, error) {
	if len(words) == 0 {
		return npz.Array{}, fmt.Errorf("no type")
	}
	typ, dims, _ := strings.Cut(strings.TrimSuffix(words[0], "]"), "[")
	a := npz.Array{Shape: []int{}}
	for _, dim := range strings.FieldsFunc(dims, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(dim)
		if err != nil {
			return a, err
		}
		a.Shape = append(a.Shape, n)
	}
	words = words[1:]
	if n := npz.Len(a.Shape); n != len(words) {
		return a, fmt.Errorf("%d elements for shape %v", len(words), a.Shape)
	}
	var err error
	switch typ {
	case "float64":
		a.Data, err = parseEach(words, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	case "int32":
		a.Data, err = parseEach(words, func(s string) (int32, error) {
			n, err := strconv.ParseInt(s, 10, 32)
			return int32(n), err
		})
	case "int64":
		a.Data, err = parseEach(words, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	case "uint8":
		a.Data, err = parseEach(words, func(s string) (uint8, error) {
			n, err := strconv.ParseUint(s, 10, 8)
			return uint8(n), err
		})
	case "bool":
		a.Data, err = parseEach(words, strconv.ParseBool)
	default:
		err = fmt.Errorf("no type %q", typ)
	}
	return a, err
}

func parseEach[T any](words []string, parse func(string) (T, error)) ([]T, error) {
	list := make([]T, len(words))
	for i, word := range words {
		var err error
		if list[i], err = parse(word); err != nil {
			return nil, err
		}
	}
	return list, nil
}
