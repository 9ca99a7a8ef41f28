package replay

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// pairs maps the memory of one run to the memory of the other that plays its part.
type pairs struct {
	dev           capture.Device
	first, second *trace
	of            map[kernels.Buffer]kernels.Buffer // of the first run, by that of the second
	back          map[kernels.Buffer]kernels.Buffer
}

// compare returns an error that names the first difference between two runs.
func compare(dev capture.Device, first, second *trace) (*pairs, error) {
	p := &pairs{dev, first, second, map[kernels.Buffer]kernels.Buffer{}, map[kernels.Buffer]kernels.Buffer{}}
	for i := range min(len(first.events), len(second.events)) {
		a, b := &first.events[i], &second.events[i]
		if !sameKernel(a.kernel, b.kernel) {
			return nil, fault("Record", ErrDiffers, "launch %d is %s in the first, %s in the second", a.at, a.name(), b.name())
		}
		for j := range a.args {
			if why := p.argument(&a.args[j], &b.args[j]); why != "" {
				return nil, fault("Record", ErrDiffers, "%s %s", b.argument(j), why)
			}
		}
		if b.kernel == nil && !sameBytes(a.data, b.data) {
			return nil, fault("Record", ErrDiffers, "%s other values in the second: what changes is an input, a tensor older than Record that is set between the runs, or a step scalar", b.argument(0))
		}
	}
	if n, m := len(first.events), len(second.events); n != m {
		longer, rest := "first", first
		if m > n {
			longer, rest = "second", second
		}
		next := &rest.events[min(n, m)]
		return nil, fault("Record", ErrDiffers, "%d launches in the first, %d in the second: only the %s continues with %s: where the first step of a program does more or less than those that follow, do it before Record",
			first.launches(), second.launches(), longer, next.name())
	}
	for _, s := range slices.Concat(first.scalars, second.scalars) {
		n, m := first.turns[s], second.turns[s]
		if n != m {
			return nil, fault("Record", ErrDiffers, "step scalars are advanced %d times in the first, %d times in the second", n, m)
		}
		if all := second.ends[s] - first.ends[s]; slices.Contains(first.scalars, s) && slices.Contains(second.scalars, s) &&
			all != m {
			return nil, fault("Record", tensor.ErrGoroutine, "step scalars are advanced %d times in the second, %d of them by another goroutine: call StepScalars.Next in that of Record", all, all-m)
		}
	}
	return p, nil
}

func sameKernel(a, b *kernels.Kernel) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	return a.Name == b.Name && a.Text == b.Text && a.GPUText == b.GPUText && a.File == b.File && a.Defines == b.Defines && len(a.Params) == len(b.Params)
}

// name names the launch, or the upload.
func (e *event) name() string {
	if e.kernel == nil {
		return "an upload"
	}
	return e.kernel.Name
}

// argument names one of a launch.
func (e *event) argument(j int) string {
	if e.kernel == nil {
		return fmt.Sprintf("an upload after %d launches has", e.at)
	}
	return fmt.Sprintf("%s of launch %d, %s, is", e.kernel.Params[j].Name, e.at, e.kernel.Name)
}

// argument says how an argument differs, "" if it does not.
func (p *pairs) argument(a, b *kernels.Arg) string {
	if a.Kind != kernels.ArgBuffer {
		return p.number(a, b)
	}
	switch {
	case a.Buf.DType() != b.Buf.DType():
		return fmt.Sprintf("memory of %v in the first, of %v in the second", a.Buf.DType(), b.Buf.DType())
	case a.N != b.N || a.Off != b.Off || a.Buf.Len() != b.Buf.Len():
		return fmt.Sprintf("elements [%d, %d) of %s in the first, [%d, %d) of %s in the second: shapes must not depend on data",
			a.Off, a.Off+a.N, p.tensor(a.Buf), b.Off, b.Off+b.N, p.tensor(b.Buf))
	}
	return p.memory(a.Buf, b.Buf)
}

// memory says how two parts differ.
func (p *pairs) memory(a, b kernels.Buffer) string {
	switch p.second.origin(b) {
	case older:
		if a != b {
			return fmt.Sprintf("another tensor of shape %s in the second", p.tensor(b))
		}
	case earlier:
		return fmt.Sprintf("memory of a tensor of shape %s that the first made: what a step hands to the next has to be a tensor older than Record, written in place", p.tensor(b))
	case made:
		known, ok := p.of[b]
		partner, paired := p.back[a]
		if p.first.origin(a) != made || ok && known != a || paired && partner != b {
			return fmt.Sprintf("a tensor of shape %s that plays another part in the second", p.tensor(b))
		}
		p.of[b], p.back[a] = a, b
	}
	return ""
}

// tensor describes memory by the tensor that it was made for.
func (p *pairs) tensor(b kernels.Buffer) string {
	return shapeOf(p.dev, b)
}

func shapeOf(dev capture.Device, b kernels.Buffer) string {
	if m := dev.Memory(b); m != nil {
		return fmt.Sprint(m.Shape())
	}
	return fmt.Sprint([]int{b.Len()})
}

// number says how two numbers differ. StepScalars count their turns from the end of the run.
func (p *pairs) number(a, b *kernels.Arg) string {
	s, i, turn := a.StepScalar()
	t, j, now := b.StepScalar()
	switch {
	case s != t || i != j:
		return "another step scalar in the second"
	case s != nil && turn-p.first.ends[s] != now-p.second.ends[t]:
		return "a step scalar of another step in the second: call StepScalars.Next as often in each step, and StepScalars.Arg after it"
	case s == nil && a.Kind == kernels.ArgInt && a.Int != b.Int:
		return fmt.Sprintf("%d in the first, %d in the second, and no step scalar: see kernels.StepScalars", a.Int, b.Int)
	case s == nil && math.Float64bits(a.Float) != math.Float64bits(b.Float):
		return fmt.Sprintf("%v in the first, %v in the second, and no step scalar: see kernels.StepScalars", a.Float, b.Float)
	}
	return ""
}

func sameBytes(a, b *kernels.HostBuffer) bool { return bytes.Equal(raw(a), raw(b)) }

// raw returns the bytes of host memory: values that are not equal to themselves are the same.
func raw(m *kernels.HostBuffer) []byte {
	return unsafe.Slice((*byte)(m.Pointer()), m.Len()*m.DType().Size())
}
