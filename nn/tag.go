package nn

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/clgrad/clgrad/tensor"
)

// tag is what the tag of a field says: `nn:"name#,transposed,from=1"`.
type tag struct {
	name       string // with "#" where the index of an element stands
	transposed bool   // a state dict holds the transpose
	from       int    // the index of the first element
}

// tagOf returns the tag of a field, and false for one that is left out. It panics with tensor.ErrValue for a tag with
// a word that it does not know.
func tagOf(of reflect.Type, field reflect.StructField) (t tag, ok bool) {
	text := field.Tag.Get("nn")
	if text == "-" {
		return tag{}, false
	}
	words := strings.Split(text, ",")
	t.name = words[0]
	for _, word := range words[1:] {
		from, is := strings.CutPrefix(word, "from=")
		n, err := strconv.Atoi(from)
		switch {
		case word == "transposed":
			t.transposed = true
		case is && err == nil && n >= 0:
			t.from = n
		default:
			misuse("tag", tensor.ErrValue, "field %s of %v has the tag `nn:%q`: after the name stands nothing, "+
				"transposed, or from=1, which is the index of the first element", field.Name, of, text)
		}
	}
	return t, true
}

// element returns the path of an element: joined by a dot, or where the name has "#" in place of that, with what is
// behind it.
func (t tag) element(path, index string) string {
	before, behind, is := strings.Cut(t.name, "#")
	if is && before == "" { // the field has no name of its own
		return join(path, index+behind)
	}
	if is {
		return path + index + behind
	}
	return join(path, index)
}

// within returns the tag of the elements of a field: what it says of them, but for the place and the start of their
// index. Elements whose field has no name of its own have one by their index.
func (t tag) within() tag {
	t.from = 0
	if t.name != "#" {
		t.name = strings.Replace(t.name, "#", "", 1)
	}
	return t
}
