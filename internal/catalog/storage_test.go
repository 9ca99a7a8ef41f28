package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
)

// moves are the operations that move elements of types for storage. All others refuse them.
var moves = strings.Fields("Reshape Transpose T Slice Step Select Expand Copy GatherRows Concat Stack Split SplitWithSizes Chunk " +
	"Unbind Squeeze Unsqueeze MoveDim Flatten Diagonal Unfold Tile RepeatInterleave Roll Flip PixelShuffle PixelUnshuffle Gather " +
	"IndexSelect Index Embedding To")

// TestStorageTypes: every operation moves elements of types for storage, or refuses them with an error that
// names it, the type and To.
func TestStorageTypes(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	for _, f := range families {
		refs := references(t, f)
		for _, o := range f.operations {
			for _, name := range slices.Sorted(maps.Keys(o.cases)) {
				o.storage(t, d, refs, name)
			}
		}
	}
}

func (o operation) storage(t *testing.T, d tensor.Device, refs map[string]npz.Array, name string) {
	for _, typ := range []tensor.Type{tensor.Float8E4M3FN, tensor.Int4} {
		tensor.Scope(d, func() {
			var operands []*node
			floats := 0
			for i := 0; ; i++ {
				a, there := refs[fmt.Sprint(o.name, ".", name, ".in", i)]
				if !there {
					break
				}
				x := upload(t, d, tensor.Float32, &a)
				if ofFloats(&a) {
					floats++
					x = x.To(typ)
				}
				operands = append(operands, autograd.Const(x))
			}
			if floats == 0 {
				return
			}
			var made []*node
			err := tensor.Try(func() { made = o.cases[name](operands) })
			_, short, _ := strings.Cut("."+o.name, ".")
			if at := strings.LastIndex(short, "."); at >= 0 {
				short = short[at+1:]
			}
			var e *tensor.Error
			switch {
			case slices.Contains(moves, short):
				if err != nil || short != "To" && slices.ContainsFunc(made, func(y *node) bool { return y.Type() != typ }) {
					t.Errorf("%s (%s) of %v: %v, %v", o.name, name, typ, made, err)
				}
			case !errors.As(err, &e) || !errors.Is(err, tensor.ErrType):
				t.Errorf("%s (%s) of %v: %v", o.name, name, typ, err)
			case !strings.Contains(err.Error(), typ.String()) || !strings.Contains(err.Error(), "To("):
				t.Errorf("%s (%s): the error does not name %v and To: %v", o.name, name, typ, err)
			case !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(short)):
				t.Errorf("%s (%s): the error does not name it: %v", o.name, name, err)
			}
		})
	}
}
