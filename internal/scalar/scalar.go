// Package scalar reads numbers, of Go or of a device, for what shows or keeps them.
package scalar

import "reflect"

// Scalar is a number that may still be on its way. Item waits for the device.
type Scalar interface {
	Item() (float64, error)
}

// Is reports whether v is a Scalar or a number of Go.
func Is(v any) bool {
	if _, ok := v.(Scalar); ok {
		return true
	}
	kind := reflect.ValueOf(v).Kind()
	return kind >= reflect.Int && kind <= reflect.Float64
}

// Read returns a number as an int64, a uint64 or a float64. It waits for the device if v is a Scalar.
func Read(v any) (any, error) {
	if s, ok := v.(Scalar); ok {
		return s.Item()
	}
	switch x := reflect.ValueOf(v); {
	case x.CanInt():
		return x.Int(), nil
	case x.CanUint():
		return x.Uint(), nil
	default:
		return x.Float(), nil
	}
}

// Float is Read as a float64.
func Float(v any) (float64, error) {
	v, err := Read(v)
	if err != nil {
		return 0, err
	}
	return reflect.ValueOf(v).Convert(reflect.TypeFor[float64]()).Float(), nil
}
