package onnx

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

func init() {
	Register(
		Operator{Name: "StringNormalizer", Since: 10, Attributes: "case_change_action is_case_sensitive locale stopwords",
			Run: normalizeStrings, Shape: normalizeStringsShape},
		Operator{Name: "StringConcat", Since: 20, Run: concatElements, Shape: broadcasting("string", nil)},
		Operator{Name: "StringSplit", Since: 20, Attributes: "delimiter maxsplit", Run: splitStrings, Shape: splitStringsShape},
		Operator{Name: "RegexFullMatch", Since: 20, Attributes: "pattern", Run: matchStrings, Shape: sameOf("bool")},
	)
}

// stringsAt returns input i, an array of strings.
func (c *Call) stringsAt(i int) *Value {
	v := c.Value(i)
	if v.kind != stringsValue {
		c.Fail("input %d is %v, and should be strings", i, v)
	}
	return v
}

// normalizeStrings drops stop words from a list, and changes the case of the others.
func normalizeStrings(c *Call) []*Value {
	v := c.stringsAt(0)
	if rank := len(v.shape); rank != 1 && !(rank == 2 && v.shape[0] == 1) {
		c.Fail("strings of shape %v, and should be of [C] or [1 C]", v.shape)
	}
	upper, lower := strings.ToUpper, strings.ToLower
	if language, _, _ := strings.Cut(c.String("locale", ""), "_"); language == "tr" || language == "az" {
		upper = func(s string) string { return strings.ToUpperSpecial(unicode.TurkishCase, s) }
		lower = func(s string) string { return strings.ToLowerSpecial(unicode.TurkishCase, s) }
	}
	same := func(s string) string { return s }
	change, ok := map[string]func(string) string{"NONE": same, "UPPER": upper,
		"LOWER": lower}[c.String("case_change_action", "NONE")]
	if !ok {
		c.Fail("case_change_action is %q", c.String("case_change_action", ""))
	}
	key := same
	if !c.Bool("is_case_sensitive", false) {
		key = lower
	}
	stops := map[string]bool{}
	for _, s := range c.StringList("stopwords") {
		stops[key(s)] = true
	}
	out := []string{}
	for _, s := range v.strings {
		if !stops[key(s)] {
			out = append(out, change(s))
		}
	}
	if len(out) == 0 {
		out = []string{""}
	}
	shape := v.Shape()
	shape[len(shape)-1] = len(out)
	return []*Value{ofStrings(out, shape)}
}

// concatElements joins the strings of two arrays, which broadcast.
func concatElements(c *Call) []*Value {
	x, y := c.stringsAt(0), c.stringsAt(1)
	rank := max(len(x.shape), len(y.shape))
	shape := make([]int, rank)
	for i := range shape {
		a, b := sizeOf(x, i-rank), sizeOf(y, i-rank)
		if a != b && a != 1 && b != 1 {
			c.Fail("strings of shapes %v and %v do not broadcast", x.shape, y.shape)
		}
		if shape[i] = a; a == 1 {
			shape[i] = b
		}
	}
	out, index := make([]string, c.count(shape)), make([]int, rank)
	for i := range out {
		out[i] = x.strings[broadcastIndex(x, index)] + y.strings[broadcastIndex(y, index)]
		for k := rank - 1; k >= 0; k-- {
			if index[k]++; index[k] < shape[k] {
				break
			}
			index[k] = 0
		}
	}
	return []*Value{ofStrings(out, shape)}
}

// sizeOf returns the size of an axis counted from the end, 1 of one before the first.
func sizeOf(v *Value, axis int) int {
	if axis += len(v.shape); axis < 0 {
		return 1
	}
	return v.shape[axis]
}

// broadcastIndex returns the place of the string that stands at an index of a larger shape.
func broadcastIndex(v *Value, index []int) int {
	at := 0
	for i, size := range v.shape {
		at *= size
		if size > 1 {
			at += index[len(index)-len(v.shape)+i]
		}
	}
	return at
}

// splitStrings cuts each string into parts, along a new axis that is as long as the most parts of one, and counts them.
func splitStrings(c *Call) []*Value {
	v := c.stringsAt(0)
	delimiter, most := c.String("delimiter", ""), c.Int("maxsplit", -1)
	parts, counts, longest := make([][]string, len(v.strings)), make([]int64, len(v.strings)), 0
	for i, s := range v.strings {
		switch {
		case delimiter == "":
			parts[i] = fields(s, most)
		case most < 0:
			parts[i] = strings.Split(s, delimiter)
		default:
			parts[i] = strings.SplitN(s, delimiter, most+1)
		}
		counts[i], longest = int64(len(parts[i])), max(longest, len(parts[i]))
	}
	out := make([]string, len(parts)*longest)
	for i, p := range parts {
		copy(out[i*longest:], p)
	}
	return append([]*Value{ofStrings(out, append(v.Shape(), longest))}, Out(New(c, counts).Reshape(v.Shape()...))...)
}

// fields splits a string at white space, at most so often if most is not negative.
func fields(s string, most int) []string {
	var list []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimLeftFunc(s, unicode.IsSpace) {
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 || most >= 0 && len(list) == most {
			return append(list, s)
		}
		list, s = append(list, s[:end]), s[end:]
	}
	return list
}

// matchStrings reports which strings a regular expression, of RE2's syntax as Go has it, matches as a whole.
func matchStrings(c *Call) []*Value {
	v := c.stringsAt(0)
	pattern := c.String("pattern", "")
	if _, err := regexp.Compile(pattern); err != nil { // not one that becomes right within parentheses
		c.Fail("%v", err)
	}
	re, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	if err != nil {
		c.Fail("%v", err)
	}
	out := make([]bool, len(v.strings))
	for i, s := range v.strings {
		out[i] = re.MatchString(s)
	}
	return Out(New(c, out, slices.Clone(v.shape)...).Reshape(v.shape...))
}

func normalizeStringsShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if len(dims) > 0 {
		dims[len(dims)-1] = Dim{} // stop words are left out
	}
	return []Known{{Type: "string", Dims: dims}}
}

func splitStringsShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if dims == nil {
		return []Known{{Type: "string"}, {Type: "int64"}}
	}
	return []Known{{Type: "string", Dims: append(dims, Dim{})}, c.In(0).as("int64")}
}
