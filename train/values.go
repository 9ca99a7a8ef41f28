package train

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/clgrad/clgrad/internal/scalar"
	"github.com/clgrad/clgrad/tensor"
)

// Scalar is a number that may still be on its way: a tensor or a node of one element, a [Mean], a
// metric. Item waits for the device.
type Scalar = scalar.Scalar

// misuse panics with a *tensor.Error of this package.
func misuse(op string, kind error, format string, a ...any) {
	panic(&tensor.Error{Pkg: "train", Op: op, Kind: kind, Detail: fmt.Sprintf(format, a...)})
}

// mustPairs panics with tensor.ErrValue unless values are names, each with a number behind it, and no
// name is there twice or reserved.
func mustPairs(op string, values []any, reserved ...string) {
	if len(values)%2 != 0 {
		misuse(op, tensor.ErrValue, `%d values: give names and numbers in turn, such as "loss", loss`, len(values))
	}
	seen := func(name string, before []any) bool {
		for i := 0; i < len(before); i += 2 {
			if before[i] == name {
				return true
			}
		}
		return false
	}
	for i := 0; i < len(values); i += 2 {
		name, ok := values[i].(string)
		if !ok || name == "" {
			misuse(op, tensor.ErrValue, `value %d is %v: a name stands before each number, such as "loss", loss`, i, values[i])
		}
		if seen(name, values[:i]) {
			misuse(op, tensor.ErrValue, "the name %q is there twice", name)
		}
		for _, r := range reserved {
			if name == r {
				misuse(op, tensor.ErrValue, "the name %q is the line's own: give another", name)
			}
		}
		if !scalar.Is(values[i+1]) {
			misuse(op, tensor.ErrValue, "%q is a %T: give a number, or a tensor or a node of one element", name, values[i+1])
		}
	}
}

// appendJSON appends a number of scalar.Read as JSON. JSON has neither NaN nor infinities: they are the
// strings "NaN", "Infinity" and "-Infinity", as in the JSON of protocol buffers.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(b, v, 10)
	case uint64:
		return strconv.AppendUint(b, v, 10)
	}
	f := v.(float64)
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

// appendString appends a string as JSON, which what is no UTF-8 becomes.
func appendString(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string has no error
	return append(b, text...)
}

// short returns a number of scalar.Read for people: four digits of a float.
func short(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'g', 4, 64)
	}
	return fmt.Sprint(v)
}
