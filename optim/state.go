package optim

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// namesOf returns the names of parameters in a State, which are theirs now, and stay when nn.Params
// of a larger model renames them: each another one, with their places where names are not enough.
func namesOf(params []*autograd.Node) []string {
	named := map[string]int{"": 2}
	for _, p := range params {
		named[p.Name()]++
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name()
		if named[names[i]] == 1 {
			continue
		}
		for names[i] += fmt.Sprintf("#%d", i); named[names[i]] > 0; { // a parameter may be called like that
			names[i] += fmt.Sprintf("#%d", i)
		}
		named[names[i]] = 1
	}
	return names
}

// restore copies the tensors of a state over those of the owner, which errors name, or returns an
// error, with nothing changed.
func restore(owner string, own tensor.Dict, s State) error {
	if err := restorable(owner, own, s); err != nil {
		return err
	}
	tensorapi.CopyOver(own, s.Tensors)
	return nil
}

// restorable returns the error of restore, and changes nothing.
func restorable(owner string, own tensor.Dict, s State) error {
	if s.Steps < 0 || len(s.Tensors) != len(own) {
		return fmt.Errorf("optim: restore: the state has %d steps and %d tensors, the %s %d tensors", s.Steps, len(s.Tensors), owner, len(own))
	}
	for name, dst := range own {
		src, ok := s.Tensors[name]
		if !ok {
			return fmt.Errorf("optim: restore: the state has no tensor %q", name)
		}
		switch {
		case src == nil:
			return fmt.Errorf("optim: restore: tensor %q of the state is nil", name)
		case src.Freed():
			return fmt.Errorf("optim: restore: %s", tensorapi.Impl.WhoFreed(src, fmt.Sprintf("tensor %q of the state", name)))
		case src.Device() != dst.Device():
			return fmt.Errorf("optim: restore: tensor %q of the state is on another device than the %s, %s: load it there", name, owner, tensorapi.Impl.BothNames(src.Device(), dst.Device()))
		}
		if !slices.Equal(src.Shape(), dst.Shape()) {
			return fmt.Errorf("optim: restore: tensor %q has shape %v in the state, %v in the %s", name, src.Shape(), dst.Shape(), owner)
		}
		if src.Type() != dst.Type() {
			return fmt.Errorf("optim: restore: tensor %q is of type %v in the state, %v in the %s: convert it with To", name, src.Type(), dst.Type(), owner)
		}
	}
	return nil
}

func freeAll(views tensor.Dict) {
	for _, view := range views {
		view.Free()
	}
}
