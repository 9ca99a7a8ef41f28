package nn

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// StateDict returns the values of parameters by their names: for tensor.SaveNPZ. The tensors are the
// parameters' own. It panics with tensor.ErrValue if two share a name.
func StateDict(params []*autograd.Node) tensor.Dict {
	dict := tensor.Dict{}
	for _, p := range params {
		if dict[p.Name()] != nil {
			panic(&tensor.Error{Pkg: "nn", Op: "StateDict", Kind: tensor.ErrValue, Detail: fmt.Sprintf("two parameters are named %q", p.Name())})
		}
		dict[p.Name()] = p.Value()
	}
	return dict
}

// LoadStateDict copies values by name into parameters, Float16 as reals. It returns an error, with nothing changed,
// if two parameters share a name, or unless the dict has exactly these names, in these shapes, on the parameters'
// device, and no integers; and the device's first failure.
func LoadStateDict(params []*autograd.Node, dict tensor.Dict) error {
	seen := map[string]bool{}
	for _, p := range params {
		if seen[p.Name()] {
			return fmt.Errorf("nn: load: two parameters are named %q: give each a name of its own", p.Name())
		}
		seen[p.Name()] = true
		v, ok := dict[p.Name()]
		switch {
		case !ok:
			return fmt.Errorf("nn: load: no tensor %q", p.Name())
		case v == nil:
			return fmt.Errorf("nn: load: tensor %q is nil", p.Name())
		case v.Freed():
			return fmt.Errorf("nn: load: tensor %q was freed: keep it with Keep, or free it later", p.Name())
		case v.Device() != p.Device():
			return fmt.Errorf("nn: load: tensor %q is on %s, the parameter on %s: load it there", p.Name(), v.Device().Name(), p.Device().Name())
		}
		if !slices.Equal(v.Shape(), p.Shape()) {
			return fmt.Errorf("nn: load: tensor %q has shape %v, the parameter %v", p.Name(), v.Shape(), p.Shape())
		}
		if t := v.Type(); t != tensor.Real && t != tensor.Float16 {
			return fmt.Errorf("nn: load: tensor %q is of type %v, the parameter of %v: convert it with To", p.Name(), t, tensor.Real)
		}
	}
	if len(dict) != len(params) {
		return fmt.Errorf("nn: load: %d tensors for %d parameters", len(dict), len(params))
	}
	for _, p := range params {
		v := dict[p.Name()].To(tensor.Real)
		p.Value().SetInPlace(v)
		v.Free()
	}
	if len(params) == 0 {
		return nil
	}
	return params[0].Device().Err()
}
