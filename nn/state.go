package nn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// StateDict returns the parameters and buffers of a model by their paths, with PyTorch's names and
// layouts for the layers of this package: for tensor.SaveNPZ or SaveSafetensors. The tensors are
// the model's own, or views of them: a later step changes them, also one of an optimizer that is
// made later. A parameter at two paths is there twice, as in PyTorch. It panics with
// tensor.ErrValue if two have one path, if parts that point to each other make more paths than
// a model can have, and for a model that [QuantizeWeights] has quantized.
func StateDict(model any) tensor.Dict {
	dict, _ := stateDict(model)
	return dict
}

// stateDict returns what StateDict does, and the paths of each parameter.
func stateDict(model any) (dict tensor.Dict, paths map[*autograd.Node][]string) {
	list := named(entries(model, false))
	mustBeFloats("StateDict", list)
	dict, paths = tensor.Dict{}, map[*autograd.Node][]string{}
	for _, e := range list {
		if dict[e.path] != nil {
			misuse("StateDict", tensor.ErrValue, "two tensors have the path %q: rename a field with the tag `nn:\"name\"`", e.path)
		}
		dict[e.path] = e.value()
		if e.param != nil {
			paths[e.param] = append(paths[e.param], e.path)
		}
	}
	return dict, paths
}

// LoadOptions say what a dict may be for [LoadStateDict]. The zero value: exactly what the model
// has.
type LoadOptions struct {
	Partial bool // whether names that only the dict or only the model has are left alone
}

// LoadStateDict copies a dict, such as [StateDict] returns or a file of PyTorch holds, into a
// model, Float16 as floats. It returns an error, with nothing changed, unless the names are the
// model's, and the tensors of their shapes, on its device and of floats where it has floats; and the
// device's first failure. Of a parameter at two paths one is enough, as in files of tied weights. It panics as [StateDict] does, for two LoadOptions, and, with
// tensor.ErrValue and nothing changed, for a parameter that repeats elements, as one made of an
// expanded tensor does.
func LoadStateDict(model any, dict tensor.Dict, options ...LoadOptions) error {
	if len(options) > 1 {
		misuse("LoadStateDict", tensor.ErrValue, "%d LoadOptions: give one", len(options))
	}
	partial := len(options) == 1 && options[0].Partial
	own, paths := stateDict(model)
	for _, same := range paths {
		leaveOut(own, dict, same)
	}
	names := slices.Sorted(maps.Keys(own))
	if !partial {
		if err := sameNames(own, dict); err != nil {
			return err
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, ok := dict[name]; return !ok })
	for _, name := range names {
		if err := fits(name, own[name], dict[name]); err != nil {
			return err
		}
	}
	from := tensor.Dict{}
	for _, name := range names {
		if t := own[name]; !t.IsContiguous() { // whether it can be written to is known by doing it
			t.SetInPlace(t)
		}
		from[name] = dict[name]
	}
	tensorapi.CopyOver(own, from)
	if len(names) == 0 {
		return nil
	}
	return own[names[0]].Device().Err()
}

// leaveOut removes from own the paths of one parameter that a dict does not have, if it has another of them.
func leaveOut(own, dict tensor.Dict, paths []string) {
	has := func(path string) bool { _, ok := dict[path]; return ok }
	if !slices.ContainsFunc(paths, has) {
		return
	}
	for _, path := range paths {
		if !has(path) {
			delete(own, path)
		}
	}
}

// sameNames returns an error that lists the names which only one of the model and the dict has.
func sameNames(own, dict tensor.Dict) error {
	only := func(a, b tensor.Dict) []string {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(a)) {
			if _, ok := b[name]; !ok {
				names = append(names, fmt.Sprintf("%q", name))
			}
		}
		return names
	}
	list := func(names []string) string {
		if more := len(names) - 5; more > 1 {
			return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), more)
		}
		return strings.Join(names, ", ")
	}
	missing, unknown := only(own, dict), only(dict, own)
	switch {
	case len(missing) == 0 && len(unknown) == 0:
		return nil
	case len(unknown) == 0:
		return fmt.Errorf("nn: load: the dict has no %s", list(missing))
	case len(missing) == 0:
		return fmt.Errorf("nn: load: the model has no %s", list(unknown))
	}
	return fmt.Errorf("nn: load: the dict has no %s; the model has no %s", list(missing), list(unknown))
}

// fits returns an error that says why src can't be copied to dst.
func fits(name string, dst, src *tensor.Tensor) error {
	switch {
	case src == nil:
		return fmt.Errorf("nn: load: tensor %q is nil", name)
	case src.Freed():
		return fmt.Errorf("nn: load: %s", tensorapi.Impl.WhoFreed(src, fmt.Sprintf("tensor %q", name)))
	case src.Device() != dst.Device():
		return fmt.Errorf("nn: load: tensor %q is on another device than the model, %s: load it there", name, tensorapi.Impl.BothNames(src.Device(), dst.Device()))
	case !slices.Equal(src.Shape(), dst.Shape()):
		return fmt.Errorf("nn: load: tensor %q has shape %v, in the model %v", name, src.Shape(), dst.Shape())
	}
	from, to := src.Type(), dst.Type()
	if from.Integer() != to.Integer() || from != to && (from.Storage() || to.Storage()) {
		return fmt.Errorf("nn: load: tensor %q is of type %v, in the model of %v: convert it with To", name, from, to)
	}
	return nil
}

// draw makes a parameter by an initializer, or by UniformFanIn if that is nil. It has no name until
// [Params] gives it one.
func draw(d tensor.Device, rng *tensor.RNG, by Initializer, fanIn, fanOut int, shape ...int) *autograd.Node {
	if by == nil {
		by = UniformFanIn
	}
	v := by(d, rng, fanIn, fanOut, shape...)
	if v != nil && !slices.Equal(v.Shape(), shape) {
		misuse("Initializer", tensor.ErrShape, "it drew a tensor of shape %v where %v was asked for", v.Shape(), shape)
	}
	return autograd.Param(v, "")
}
