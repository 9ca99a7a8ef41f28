package tensorapi

import (
	"maps"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// CopyOver copies the tensors of src over those of dst, which has their names, in the same shapes
// and on the same device; Float16 as floats. Those of src may be dst's own under other names, or
// views of them: each is what it was before the first copy.
func CopyOver(dst, src tensor.Dict) {
	written := map[any]bool{}
	for name := range src {
		storage, _ := Impl.Memory(dst[name])
		written[storage] = true
	}
	from := tensor.Dict{}
	for _, name := range slices.Sorted(maps.Keys(src)) {
		to, t := dst[name], src[name]
		storage, first := Impl.Memory(t)
		own, place := Impl.Memory(to)
		switch {
		case !written[storage]:
			from[name] = t.To(to.Type())
		case t != to && !(storage == own && first == place && t.IsContiguous() && to.IsContiguous()):
			from[name] = t.Copy()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		dst[name].SetInPlace(from[name])
		from[name].Free()
	}
}
