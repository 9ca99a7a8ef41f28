package devtest

import (
	"reflect"
	"testing"

	"github.com/clgrad/clgrad/internal/operations"
)

// Reductions returns the methods of T, *tensor.Tensor or *autograd.Node, that reduce any axes, by name, as the table of
// operations lists them. Each returns its first result. A float that one takes is 2, as the p of Norm, and an int 0, as
// the correction of Var.
func Reductions[T any](t testing.TB) map[string]func(x T, axes ...int) any {
	t.Helper()
	names, err := operations.Reductions()
	if err != nil || len(names) == 0 {
		t.Fatalf("the table of operations has %d reductions (err %v)", len(names), err)
	}
	all := map[string]func(x T, axes ...int) any{}
	for _, name := range names {
		method, ok := reflect.TypeFor[T]().MethodByName(name)
		if !ok {
			t.Fatalf("%v has no method %s: make generate", reflect.TypeFor[T](), name)
		}
		all[name] = func(x T, axes ...int) any {
			in := []reflect.Value{reflect.ValueOf(x)}
			for i := 1; i < method.Type.NumIn()-1; i++ {
				number := reflect.New(method.Type.In(i)).Elem()
				if number.CanFloat() {
					number.SetFloat(2)
				}
				in = append(in, number)
			}
			return method.Func.CallSlice(append(in, reflect.ValueOf(axes)))[0].Interface()
		}
	}
	return all
}
