package nn

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// mustSizes panics with tensor.ErrShape unless the sizes in a field of a config are 1 or more: one
// that was left out is 0.
func mustSizes(op, field string, sizes ...int) {
	for _, n := range sizes {
		if n < 1 {
			misuse(op, tensor.ErrShape, "%s is %s: a size is 1 or more", field, show(sizes))
		}
	}
}

func show(sizes []int) string {
	if len(sizes) == 1 {
		return fmt.Sprint(sizes[0])
	}
	return fmt.Sprint(sizes)
}

func misuse(op string, kind error, format string, a ...any) {
	panic(&tensor.Error{Pkg: "nn", Op: op, Kind: kind, Detail: fmt.Sprintf(format, a...)})
}

// mustBeMade panics with tensor.ErrValue for a layer that is nil, or a zero value where that is
// none.
func mustBeMade(layer string, made bool) {
	if !made {
		misuse(layer, tensor.ErrValue, "the layer is nil or a zero value: New%s makes one", layer)
	}
}

// inLayer, deferred, gives an error that passes the path of the layer that has the parameters: what the name of one,
// which it has of its path, begins with.
func inLayer(params ...*autograd.Node) {
	r := recover()
	if r == nil {
		return
	}
	if e, ok := r.(*tensor.Error); ok && e.Layer == "" {
		for _, p := range params {
			if p == nil {
				continue
			}
			if dot := strings.LastIndexByte(p.Name(), '.'); dot > 0 {
				e.Layer = p.Name()[:dot]
				break
			}
		}
	}
	panic(r)
}

// mustProbability panics with tensor.ErrValue unless the probability of dropping is one.
func mustProbability(op string, p float64) {
	if !(p >= 0 && p <= 1) {
		misuse(op, tensor.ErrValue, "Dropout is %v: a probability is in [0, 1]", p)
	}
}
