package nn

import (
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// To converts the floats of a model, its parameters and buffers, to a type of floats, in place, as
// PyTorch's module.to(dtype) does: a model of 16 bits takes half of the memory, and computes in float32
// what it rounds.
//
//	nn.To(model, tensor.BFloat16)
//	y := model.Forward(x.To(tensor.BFloat16))
//
// The inputs are the caller's to convert: one of a higher type makes all of what follows be of it.
// Quantized weights stay as they are. What the parameters gathered is dropped. To train in mixed precision keep a model in float32 and use
// [autograd.Autocast]: steps that are smaller than the spacing of a parameter's type are lost.
//
// It panics with tensor.ErrType for another type, and with tensor.ErrValue for a parameter that has an
// optimizer. Then nothing has changed.
func To(model any, typ tensor.Type) {
	const op = "To"
	if !typ.Float() {
		misuse(op, tensor.ErrType, "a model is of floats: it cannot be of %v", typ)
	}
	var list []entry
	for _, e := range entries(model, true) {
		if e.quantized != nil {
			continue
		}
		e.transposed = false
		switch t := e.value(); {
		case !t.Type().Float() || t.Type() == typ:
			continue
		case tensorapi.Impl.InFlatBuffer(t):
			misuse(op, tensor.ErrValue, "%q has an optimizer: convert the model before that is made, or Free it", e.path)
		}
		list = append(list, e)
	}
	for _, e := range list {
		t := e.value()
		if t.Type() == typ { // of two paths
			continue
		}
		if e.param != nil {
			e.param.ZeroGrad()
		}
		place := tensor.EmptyOf(t.Device(), typ, t.Shape()...)
		tensorapi.Impl.Rehome(t, place)
		tensorapi.Impl.LeaveFlatBuffer(t)
		place.Free()
	}
}
