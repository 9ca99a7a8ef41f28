package optim_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/optim"
)

// TestSurface: the optimizers have the methods of the interface, and nothing of what they are made
// of.
func TestSurface(t *testing.T) {
	var want []string
	face := reflect.TypeFor[optim.Optimizer]()
	for i := range face.NumMethod() {
		want = append(want, face.Method(i).Name)
	}
	slices.Sort(want)
	for _, typ := range []reflect.Type{reflect.TypeFor[*optim.AdamW](), reflect.TypeFor[*optim.SGD](), reflect.TypeFor[*optim.Adam](), reflect.TypeFor[*optim.RMSprop](),
		reflect.TypeFor[*optim.Adagrad](), reflect.TypeFor[*optim.Lion](), reflect.TypeFor[*optim.LAMB]()} {
		var got []string
		for i := range typ.NumMethod() {
			got = append(got, typ.Method(i).Name)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v has the methods %v, want %v", typ, got, want)
		}
		for i := range typ.Elem().NumField() {
			if f := typ.Elem().Field(i); f.IsExported() {
				t.Errorf("%v has the field %s", typ, f.Name)
			}
		}
	}
}
