package replay

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/gradsums"
	"github.com/clgrad/clgrad/kernels"
)

// parts takes launches of a kernel k_part for sums of parts of a gradient, and those of any other for an update.
type parts struct {
	gradsums.Gradients
	update *sums
}

func (p parts) Update([]kernels.Arg, []kernels.Op) gradsums.Update { return p.update }

func (p parts) Partials(k *kernels.Kernel, args []kernels.Arg, at, from int, _ kernels.Target) []gradsums.Partial {
	if k.Name != "k_part" {
		return nil
	}
	return []gradsums.Partial{{At: at, N: args[1].N, From: from}}
}

// sums is an update that notes what it adds up.
type sums struct {
	gradsums.Update
	gradient kernels.Arg
	added    []gradsums.Partial
}

func (s *sums) Gradient() kernels.Arg { return s.gradient }

func (s *sums) SumBlocks(list []gradsums.Partial, _ int) ([]int32, bool) {
	s.added = list
	return []int32{1}, false
}

func (s *sums) SumByTable(g, parts, table kernels.Arg) (*kernels.Kernel, []kernels.Arg) {
	l := touching([]kernels.Mode{kernels.In, kernels.In, kernels.InInts}, g, parts, table)
	return l.Kernel, l.Args
}

// TestSplitKConditions: which sums an update adds up, of which parts of memory that begin where buffers may.
func TestSplitKConditions(t *testing.T) {
	g, z, x, y := &room{64}, &room{64}, &room{24}, &room{16}
	scalars := kernels.NewStepScalars(1, func(n []kernels.Arg) error { n[0] = kernels.IntArg(1); return nil })
	if err := scalars.Next(); err != nil {
		t.Fatal(err)
	}
	part := func(from kernels.Buffer, off, at int) capture.Launch {
		k := opaque("part", kernels.In, kernels.Out)
		k.Semantics = func([]kernels.Arg) []kernels.Op { return []kernels.Op{sumOf(viewOf(1, 0, 4, 4, 1))} }
		return capture.Launch{Kernel: k, Args: []kernels.Arg{kernels.BufferArg(from, off, 8),
			kernels.BufferArg(g, at, 8),
			kernels.IntArg(1), kernels.IntArg(1), kernels.IntArg(64)}}
	}
	update := saying([]kernels.Op{sumOf(viewOf(1, 0, 4, 4, 1))}, []kernels.Mode{kernels.In, kernels.InOut},
		kernels.BufferArg(g, 8, 32), kernels.BufferArg(z, 0, 32))
	changing := func(l capture.Launch) capture.Launch { // of a size that is a step scalar
		l.Args = append(slices.Clone(l.Args[:2]), scalars.Arg(0), kernels.IntArg(1), kernels.IntArg(64))
		return l
	}
	steps := func(list ...capture.Launch) []capture.Launch { return list }
	for _, c := range []struct {
		name string
		step []capture.Launch
		want []gradsums.Partial
	}{
		{"of two memories", steps(part(x, 4, 8), part(y, 8, 32), update),
			[]gradsums.Partial{{At: 0, N: 8, From: 4}, {At: 24, N: 8, From: align + 8}}},
		{"of one memory", steps(part(x, 0, 8), part(x, 8, 16), update),
			[]gradsums.Partial{{At: 0, N: 8, From: 0}, {At: 8, N: 8, From: 8}}},
		{"that begins before the gradient", steps(part(x, 0, 7), update), nil},
		{"that ends behind it", steps(part(x, 0, 33), update), nil},
		{"of a size that is a step scalar", steps(changing(part(x, 0, 8)), update), nil},
		{"an update of such a size", steps(part(x, 0, 8), changing(update)), nil},
		{"of as much memory as is kept", steps(part(&room{largeReads}, 0, 8), update),
			[]gradsums.Partial{{At: 0, N: 8, From: 0}}},
		{"of more", steps(part(&room{largeReads + 1}, 0, 8), update), nil},
		{"of more together", steps(part(&room{largeReads - 8}, 0, 8), part(x, 0, 16), update),
			[]gradsums.Partial{{At: 0, N: 8, From: 0}}},
	} {
		s := &sums{gradient: kernels.BufferArg(g, 8, 32)}
		was := gradsums.Registered()
		gradsums.Register(parts{was, s})
		r := rewriterOf(c.step, func(b kernels.Buffer) bool { return b == kernels.Buffer(z) }, never)
		fuseSplitK(r)
		gradsums.Register(was)
		if !slices.Equal(s.added, c.want) {
			t.Errorf("%s: the update adds up %v, want %v", c.name, s.added, c.want)
		}
	}
}
