package replay

import (
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
)

// TestBatchConditions: which launches of one kernel are one launch, by what is not their order.
func TestBatchConditions(t *testing.T) {
	mem, other, input := &room{64}, &room{64}, &room{64}
	large, left := &room{largeReads + 1}, &room{largeReads + 2} // of which the latter is there after the run
	fill, read := opaque("fill", kernels.Out), opaque("read", kernels.In, kernels.Out)
	alone := opaque("alone", kernels.Out)
	alone.Fusions = nil
	ints := func(across, items int) []kernels.Arg {
		return []kernels.Arg{kernels.IntArg(across), kernels.IntArg(1), kernels.IntArg(items)}
	}
	fills := func(k *kernels.Kernel, at, across, items int) capture.Launch {
		return capture.Launch{Kernel: k,
			Args: append([]kernels.Arg{kernels.BufferArg(mem, at, 1)}, ints(across, items)...)}
	}
	reads := func(from, to kernels.Buffer) capture.Launch {
		return capture.Launch{Kernel: read,
			Args: append([]kernels.Arg{kernels.BufferArg(from, 0, from.Len()), kernels.BufferArg(to, 0, to.Len())},
				ints(1, 64)...)}
	}
	scalars := kernels.NewStepScalars(1, func(n []kernels.Arg) error { n[0] = kernels.IntArg(1); return nil })
	if err := scalars.Next(); err != nil {
		t.Fatal(err)
	}
	scaled := fills(fill, 0, 1, 64)
	scaled.Args[1] = scalars.Arg(0)
	one, apart := fills(fill, 1, 1, 64), fills(alone, 2, 1, 64)
	steps := func(list ...capture.Launch) []capture.Launch { return list }
	for _, c := range []struct {
		name     string
		step     []capture.Launch
		gpu, cpu int // launches
	}{
		{"small ones", steps(fills(fill, 0, 1, 64), one), 1, 1},
		{"of other work-groups", steps(fills(fill, 0, 1, 32), one), 2, 2},
		{"sizes that are step scalars", steps(scaled, one), 2, 2},
		{"as many work-groups as may be idle", steps(fills(fill, 0, 35, 64), one), 1, 1},
		{"one more", steps(fills(fill, 0, 36, 64), one), 2, 2},
		{"idle in the third", steps(fills(fill, 0, 35, 64), one, fills(fill, 3, 1, 64)), 2, 2},
		{"as many as on a CPU", steps(fills(fill, 0, mostGroupsCPU, 64), fills(fill, 1, mostGroupsCPU, 64)), 1, 1},
		{"more", steps(fills(fill, 0, mostGroupsCPU+1, 64), fills(fill, 1, mostGroupsCPU+1, 64)), 1, 2},
		{"as many as on a GPU", steps(fills(fill, 0, mostGroupsGPU, 64), fills(fill, 1, mostGroupsGPU, 64)), 1, 2},
		{"more than that", steps(fills(fill, 0, mostGroupsGPU+1, 64), fills(fill, 1, mostGroupsGPU+1, 64)), 2, 2},
		{"the former reads much", steps(reads(large, other), apart, reads(input, input)), 2, 2},
		{"both keep much", steps(reads(large, other), apart, reads(input, &room{largeReads + 1})), 3, 3},
		{"the latter leaves much", steps(reads(large, other), apart, reads(input, left)), 2, 2},
		{"the latter keeps some", steps(reads(large, other), apart, reads(input, &room{smallRead + 1})), 2, 3},
	} {
		living := func(b kernels.Buffer) bool { return b.Len() == 64 || b == kernels.Buffer(left) }
		for target, want := range map[kernels.Target]int{gpu: c.gpu, {CPU: true, Units: 16}: c.cpu} {
			nodes, err := rewriteLaunches(only("batch-launches"), target, c.step, living, never, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(nodes) != want {
				t.Errorf("%s: %d launches, want %d (CPU: %v)", c.name, len(nodes), want, target.CPU)
			}
		}
	}
	// A batch of two and one of three are two kernels.
	narrow := fills(fill, 2, 1, 32)
	r := rewriterOf(steps(fills(fill, 0, 1, 64), one, narrow, fills(fill, 3, 1, 32), fills(fill, 4, 1, 32)),
		always, never)
	if batchLaunches(r); len(r.kinds) != 2 {
		t.Errorf("%d kernels are made: %v", len(r.kinds), r.kinds)
	}
}
