package onnx

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/clgrad/clgrad/tensor"
)

func init() {
	const keys = "keys_floats keys_int64s keys_strings values_floats values_int64s values_strings " +
		"default_float default_int64 default_string"
	Register(
		Operator{Domain: ml, Name: "CategoryMapper", Attributes: "cats_int64s cats_strings default_int64 default_string",
			Run: mapCategories, Shape: mapLabelsShape},
		Operator{Domain: ml, Name: "LabelEncoder", Attributes: "classes_strings default_int64 default_string",
			Run: mapClasses, Shape: mapLabelsShape},
		Operator{Domain: ml, Name: "LabelEncoder", Since: 2, Attributes: keys, Run: encodeLabels, Shape: encodeLabelsShape},
		Operator{Domain: ml, Name: "LabelEncoder", Since: 4, Attributes: keys + " keys_tensor values_tensor default_tensor",
			Run: encodeLabels, Shape: encodeLabelsShape},
		Operator{Domain: ml, Name: "ZipMap", Attributes: "classlabels_int64s classlabels_strings", Run: zipMap},
		Operator{Domain: ml, Name: "DictVectorizer", Attributes: "int64_vocabulary string_vocabulary", Run: vectorizeMap},
		Operator{Domain: ml, Name: "CastMap", Attributes: "cast_to map_form max_map", Run: castMap},
	)
}

// column is a list of strings, or of numbers of a type.
type column struct {
	strings []string
	typ     tensor.Type // of numbers
	floats  []float64
	ints    []int
}

// column reads the elements of a value.
func (c *Call) column(v *Value) column {
	if v.kind == stringsValue {
		return column{strings: append([]string{}, v.strings...)} // none is not nil
	}
	if v.any() == nil {
		c.Fail("%v, and should be a tensor or strings", v)
	}
	t := c.r.on(v, true)
	col := column{typ: t.Type()}
	var err error
	if col.typ.Float() {
		col.floats, err = t.Float64s()
	} else {
		var long []int64
		long, err = t.To(tensor.Int64).Int64s()
		col.ints = make([]int, len(long))
		for i, x := range long {
			col.ints[i] = int(x)
		}
	}
	if err != nil {
		panic(deviceError{err})
	}
	return col
}

func (l column) len() int { return len(l.strings) + len(l.floats) + len(l.ints) }

// key returns element i as one that a map finds: any NaN is one, and so are zeros of either sign.
func (l column) key(i int) any {
	switch {
	case l.strings != nil:
		return l.strings[i]
	case l.ints != nil:
		return l.ints[i]
	case math.IsNaN(l.floats[i]):
		return "NaN"
	}
	return l.floats[i]
}

// pick returns the elements at indices; at −1 that of another column.
func (l column) pick(c *Call, at []int, or column, shape []int) *Value {
	switch {
	case l.strings != nil:
		return ofStrings(picked(l.strings, at, or.strings), shape)
	case l.ints != nil:
		return fromNode(New(c, picked(l.ints, at, or.ints), shape...).Reshape(shape...).To(l.typ))
	}
	return fromNode(newFloats(c, picked(l.floats, at, or.floats), l.typ, shape...).Reshape(shape...))
}

func picked[T any](list []T, at []int, or []T) []T {
	out := make([]T, len(at))
	for i, k := range at {
		if k < 0 {
			out[i] = or[0]
		} else {
			out[i] = list[k]
		}
	}
	return out
}

// encoding maps keys to the places of values.
type encoding struct {
	index  map[any]int
	keys   column
	values column
	or     column
}

// encode returns a value for each element of input 0.
func (e *encoding) encode(c *Call) []*Value {
	x := c.column(c.Value(0))
	if (x.strings == nil) != (e.keys.strings == nil) || (x.floats == nil) != (e.keys.floats == nil) {
		if x.len() > 0 {
			c.Fail("the input is %v, and the keys are of another type", c.Value(0))
		}
	}
	at := make([]int, x.len())
	for i := range at {
		k, ok := e.index[x.key(i)]
		if at[i] = k; !ok {
			at[i] = -1
		}
	}
	return []*Value{e.values.pick(c, at, e.or, c.Value(0).Shape())}
}

func newEncoding(c *Call, keys, values, or column) *encoding {
	if keys.len() != values.len() || keys.len() == 0 {
		c.Fail("there are %d keys and %d values", keys.len(), values.len())
	}
	e := &encoding{index: map[any]int{}, keys: keys, values: values, or: or}
	for i := range keys.len() {
		e.index[keys.key(i)] = i
	}
	return e
}

// columnOf returns the attribute of a name that a node has: PREFIX_floats, PREFIX_int64s, PREFIX_strings or
// PREFIX_tensor.
func (c *Call) columnOf(prefix string) column {
	var found []column
	if list := c.FloatList(prefix + "_floats"); list != nil {
		found = append(found, column{typ: tensor.Float32, floats: list})
	}
	if list := c.IntList(prefix + "_int64s"); list != nil {
		found = append(found, column{typ: tensor.Int64, ints: list})
	}
	if list := c.StringList(prefix + "_strings"); list != nil {
		found = append(found, column{strings: list})
	}
	if v := c.TensorAttribute(prefix + "_tensor"); v != nil {
		found = append(found, c.column(v))
	}
	if len(found) != 1 {
		c.Fail("%d attributes %s_…, and there should be one", len(found), prefix)
	}
	return found[0]
}

// encodeLabels is LabelEncoder since version 2.
func encodeLabels(c *Call) []*Value {
	return c.once(func() any {
		values := c.columnOf("values")
		or := column{floats: []float64{c.Float("default_float", math.Copysign(0, -1))}}
		switch {
		case values.strings != nil:
			or = column{strings: []string{c.String("default_string", "_Unused")}}
		case values.ints != nil:
			or = column{ints: []int{c.Int("default_int64", -1)}}
		}
		if v := c.TensorAttribute("default_tensor"); v != nil {
			or = c.column(v)
			if or.len() != 1 || (or.strings == nil) != (values.strings == nil) || (or.ints == nil) != (values.ints == nil) {
				c.Fail("default_tensor is %v, and should be one element of the values' type", v)
			}
		}
		return newEncoding(c, c.columnOf("keys"), values, or)
	}).(*encoding).encode(c)
}

// mapClasses is LabelEncoder of version 1: the strings are numbered.
func mapClasses(c *Call) []*Value {
	list := c.StringList("classes_strings")
	numbers := make([]int, len(list))
	for i := range numbers {
		numbers[i] = i
	}
	return toStringsOrBack(c, numbers, list)
}

// mapCategories is CategoryMapper.
func mapCategories(c *Call) []*Value {
	return toStringsOrBack(c, c.IntList("cats_int64s"), c.StringList("cats_strings"))
}

// toStringsOrBack maps integers to strings, or strings to integers.
func toStringsOrBack(c *Call, ints []int, list []string) []*Value {
	return c.once(func() any {
		numbers, names := column{typ: tensor.Int64, ints: ints}, column{strings: list}
		if c.Value(0).kind == stringsValue {
			return newEncoding(c, names, numbers, column{ints: []int{c.Int("default_int64", -1)}})
		}
		return newEncoding(c, numbers, names, column{strings: []string{c.String("default_string", "_Unused")}})
	}).(*encoding).encode(c)
}

// zipMap returns a map of labels to numbers for each row.
func zipMap(c *Call) []*Value {
	x := c.rows(c.Node(0))
	labels := c.labels("classlabels_int64s", "classlabels_strings")
	if labels.len() != x.Shape()[1] {
		c.Fail("%d labels of %d columns", labels.len(), x.Shape()[1])
	}
	keys := ofStrings(labels.strings, []int{len(labels.strings)})
	if len(labels.strings) == 0 {
		keys = fromNode(New(c, labels.ints))
		c.r.settle(keys)
	}
	s := FromSequence()
	for i := range x.Shape()[0] {
		s.list = append(s.list, FromMap(keys, fromNode(x.Select(0, i))))
	}
	return []*Value{s}
}

// mapAt returns the keys and values of input i, a map.
func (c *Call) mapAt(i int) (keys, values column) {
	v := c.Value(i)
	if v.kind != mapValue {
		c.Fail("input %d is %v, and should be a map", i, v)
	}
	return c.column(v.list[0]), c.column(v.list[1])
}

// vectorizeMap returns the values of a map in the order of a vocabulary, zeros for keys that the map does not have.
func vectorizeMap(c *Call) []*Value {
	keys, values := c.mapAt(0)
	words := column{strings: c.StringList("string_vocabulary")}
	if list := c.IntList("int64_vocabulary"); list != nil {
		words = column{ints: list}
	}
	index := map[any]int{}
	for i := range words.len() {
		index[words.key(i)] = i
	}
	at := slices.Repeat([]int{-1}, words.len())
	for i := range keys.len() {
		k, ok := index[keys.key(i)]
		if !ok {
			c.Fail("key %v is not in the vocabulary", keys.key(i))
		}
		at[k] = i
	}
	return []*Value{values.pick(c, at, column{strings: []string{""}, ints: []int{0}, floats: []float64{0}},
		[]int{len(at)})}
}

// castMap returns the values of a map in the order of its keys, or each at the place that is its key.
func castMap(c *Call) []*Value {
	keys, values := c.mapAt(0)
	if keys.ints == nil && keys.len() > 0 {
		c.Fail("the keys of the map are no integers")
	}
	order := make([]int, keys.len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(keys.ints[a], keys.ints[b]) })
	at := order
	if form := c.String("map_form", "DENSE"); form == "SPARSE" {
		n := c.Int("max_map", 1)
		if n < 0 || n > math.MaxInt32 {
			c.Fail("max_map is %d", n)
		}
		at = slices.Repeat([]int{-1}, n)
		for i, k := range keys.ints {
			if k < 0 || k >= n {
				c.Fail("key %d, and max_map is %d", k, n)
			}
			at[k] = i
		}
	} else if form != "DENSE" {
		c.Fail("map_form is %q", form)
	}
	shape := []int{1, len(at)}
	switch to := c.String("cast_to", "TO_FLOAT"); to {
	case "TO_FLOAT":
		l := column{typ: tensor.Float32, floats: values.numbers(c)}
		return []*Value{l.pick(c, at, column{floats: []float64{0}}, shape)}
	case "TO_INT64":
		l := column{typ: tensor.Int64, ints: []int{}}
		for _, x := range values.numbers(c) {
			l.ints = append(l.ints, int(x))
		}
		return []*Value{l.pick(c, at, column{ints: []int{0}}, shape)}
	case "TO_STRING":
		l := column{strings: []string{}}
		for i := range values.len() {
			l.strings = append(l.strings, values.text(i))
		}
		return []*Value{l.pick(c, at, column{strings: []string{""}}, shape)}
	default:
		c.Fail("cast_to is %q", to)
		return nil
	}
}

// numbers returns the elements as numbers; strings are read.
func (l column) numbers(c *Call) []float64 {
	list := make([]float64, l.len())
	for i := range list {
		switch {
		case l.strings != nil:
			x, err := strconv.ParseFloat(l.strings[i], 64)
			if err != nil {
				c.Fail("%q is no number", l.strings[i])
			}
			list[i] = x
		case l.ints != nil:
			list[i] = float64(l.ints[i])
		default:
			list[i] = l.floats[i]
		}
	}
	return list
}

// text returns element i as a string.
func (l column) text(i int) string {
	if l.strings != nil {
		return l.strings[i]
	}
	if l.ints != nil {
		return strconv.Itoa(l.ints[i])
	}
	return fmt.Sprintf("%f", l.floats[i])
}

// mapLabelsShape: strings become integers, or integers strings.
func mapLabelsShape(c *ShapeCall) []Known {
	switch c.Type(0) {
	case "string":
		return []Known{c.In(0).as("int64")}
	case "int64":
		return []Known{c.In(0).as("string")}
	}
	return []Known{c.In(0).as("")}
}

func encodeLabelsShape(c *ShapeCall) []Known {
	for _, v := range [][2]string{{"values_floats", "float"}, {"values_int64s", "int64"}, {"values_strings", "string"}} {
		if c.HasAttribute(v[0]) {
			return []Known{c.In(0).as(v[1])}
		}
	}
	return []Known{c.In(0).as("")}
}
