package devtest

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// ErrorsName calls a function some hundred times, with arguments that are wrong in many ways and
// some that are right, and fails the test unless each panic is an *Error that names it by op, and
// not what it is made of. Arguments come from pools by their types; there are numbers, lists and
// options without. It returns how many calls panicked.
func ErrorsName(t *testing.T, op string, function reflect.Value, pools map[reflect.Type][]any) (panicked int) {
	t.Helper()
	w := wrong{rand.New(rand.NewPCG(26, uint64(len(op)))), pools}
	typ := function.Type()
	for range 300 {
		args := make([]reflect.Value, 0, 8)
		for j := range typ.NumIn() {
			if j < typ.NumIn()-1 || !typ.IsVariadic() {
				args = append(args, w.value(typ.In(j)))
			} else if list := w.value(typ.In(j)); list.Len() > 0 {
				for k := range list.Len() {
					args = append(args, list.Index(k))
				}
			}
		}
		r := panicOf(func() { function.Call(args) })
		if r == nil {
			continue
		}
		panicked++
		if err, ok := r.(*tensor.Error); !ok || err.Op != op {
			t.Errorf("%s panicked: %.300v", op, r)
			break
		}
	}
	return panicked
}

// panicOf returns what f panics with, or nil.
func panicOf(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

// wrong draws arguments.
type wrong struct {
	rng   *rand.Rand
	pools map[reflect.Type][]any
}

var (
	wrongLists = [][]int{nil, {0}, {1}, {-1}, {77}, {-77}, {0, 0}, {2, 3}, {1, 0}, {3, 1}, {tensor.Keepdims}, {tensor.Keepdims, 5}, {-1, -1},
		{1, 1, 1, 1, 1, 1, 1, 1, 1}, {math.MaxInt, 2}}
	wrongInts   = []int64{0, 1, 2, -1, 3, 7, 77, -77, math.MaxInt32, math.MinInt32}
	wrongFloats = []float64{0, 0.5, 1, 3, -1, math.NaN(), math.Inf(1), math.Inf(-1)}
)

// value returns a value of a type: zero for functions, interfaces and pointers that are in no pool.
func (w *wrong) value(typ reflect.Type) reflect.Value {
	v := reflect.New(typ).Elem()
	if pool := w.pools[typ]; len(pool) > 0 {
		if one := pool[w.rng.IntN(len(pool))]; one != nil {
			v.Set(reflect.ValueOf(one))
		}
		return v
	}
	switch {
	case typ == reflect.TypeFor[[]int]():
		v.Set(reflect.ValueOf(slices.Clone(wrongLists[w.rng.IntN(len(wrongLists))])))
	case typ == reflect.TypeFor[*kernels.Function]():
		v.Set(reflect.ValueOf([]*kernels.Function{nil, fn.Neg, fn.Add, fn.AddScalar}[w.rng.IntN(4)]))
	case typ == reflect.TypeFor[*tensor.RNG]() && w.rng.IntN(3) > 0:
		v.Set(reflect.ValueOf(tensor.NewRNG(1)))
	case v.CanInt():
		v.SetInt(wrongInts[w.rng.IntN(len(wrongInts))])
	case v.CanUint():
		v.SetUint([]uint64{0, 1, 2, 3, 77}[w.rng.IntN(5)])
	case v.CanFloat():
		v.SetFloat(wrongFloats[w.rng.IntN(len(wrongFloats))])
	case typ.Kind() == reflect.Bool:
		v.SetBool(w.rng.IntN(2) > 0)
	case typ.Kind() == reflect.String:
		v.SetString([]string{"", "ij,jk->ik", "ij->ji", "i->ij", "?"}[w.rng.IntN(5)])
	case typ.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(typ, 0, 4))
		for range []int{0, 0, 1, 1, 1, 2, 3}[w.rng.IntN(7)] {
			v = reflect.Append(v, w.value(typ.Elem()))
		}
	case typ.Kind() == reflect.Array:
		for i := range v.Len() {
			v.Index(i).Set(w.value(typ.Elem()))
		}
	case typ.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			if typ.Field(i).IsExported() && w.rng.IntN(2) > 0 {
				v.Field(i).Set(w.value(typ.Field(i).Type))
			}
		}
	}
	return v
}
