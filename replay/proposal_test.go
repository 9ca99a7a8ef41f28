package replay

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay/fusion"
)

// contents are the elements of memory, by what they were made of.
type contents map[kernels.Buffer][]uint64

// digest returns a number for one element that a launch writes, of all that it reads.
func digest(of ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, of...)
	return h.Sum64()
}

// do does launch number id of a step: each element that it writes is a function of all that it reads.
func (c contents) do(id int, l capture.Launch) {
	var read []uint64
	for i, p := range l.Kernel.Params {
		if p.Mode.Read() {
			read = append(read, c[l.Args[i].Buf][l.Args[i].Off:l.Args[i].Off+l.Args[i].N]...)
		}
	}
	for i, p := range l.Kernel.Params {
		for e := l.Args[i].Off; p.Mode.Written() && e < l.Args[i].Off+l.Args[i].N; e++ {
			c[l.Args[i].Buf][e] = digest(id, i, e, read)
		}
	}
}

// instead does launches of a step on what a launch in their place reads, and keeps what it writes.
func (c contents) instead(step []capture.Launch, does []int, l capture.Launch) {
	own := contents{}
	for buf, all := range c {
		own[buf] = make([]uint64, len(all)) // nothing that is not read is known
	}
	for i, p := range l.Kernel.Params {
		if a := l.Args[i]; p.Mode.Read() {
			copy(own[a.Buf][a.Off:a.Off+a.N], c[a.Buf][a.Off:a.Off+a.N])
		}
	}
	for _, i := range does {
		own.do(i, step[i])
	}
	for i, p := range l.Kernel.Params {
		if a := l.Args[i]; p.Mode.Written() {
			copy(c[a.Buf][a.Off:a.Off+a.N], own[a.Buf][a.Off:a.Off+a.N])
		}
	}
}

// standIn returns a launch in the place of launches of a step, that reads and writes memory.
func standIn(does []int, reads, writes []kernels.Arg) fusion.Launch {
	var modes []kernels.Mode
	for range reads {
		modes = append(modes, kernels.In)
	}
	for range writes {
		modes = append(modes, kernels.Out)
	}
	k := opaque("instead", modes...)
	k.Host = kernels.HostKernel{F32: func(kernels.HostArgs[float32]) {}}
	args := append(slices.Concat(reads, writes), kernels.IntArg(1), kernels.IntArg(1), kernels.IntArg(64))
	return fusion.Launch{Kernel: k, Args: args, Does: does}
}

// trusting is a device on which everything works.
func trusting() *device {
	return &device{one: kernels.NewHostBuffer(kernels.Float32, 1), try: func(*kernels.Kernel, []kernels.Arg) error { return nil },
		compare: func(_, _ []capture.Launch, _ []region, _ float64) error { return nil }}
}

// replaced returns the launches of a step in which one match was to be replaced, and why it was not.
func replaced(t *testing.T, step []capture.Launch, lives func(kernels.Buffer) bool, match func(s fusion.Step) fusion.Match) ([]*node, error) {
	t.Helper()
	remove := fusion.Register(fusion.Fusion{Name: "test", Match: func(s fusion.Step) []fusion.Match { return []fusion.Match{match(s)} }})
	defer remove()
	dev := trusting()
	nodes, err := rewriteLaunches(only("test"), gpu, step, lives, never, dev)
	if err != nil {
		t.Fatal(err)
	}
	if (dev.fused == 1) == (dev.notFused != nil) {
		t.Fatalf("%d matches are done: %v", dev.fused, dev.notFused)
	}
	return nodes, dev.notFused
}

// TestProposalsKeepContents: random launches of random steps are replaced by one or two that read
// what they read and write some of what they wrote. Where that is not refused, memory that is seen
// holds what it would have.
func TestProposalsKeepContents(t *testing.T) {
	kinds := []*kernels.Kernel{opaque("copy", kernels.In, kernels.Out), opaque("change", kernels.In, kernels.InOut), opaque("mix", kernels.In, kernels.In, kernels.Out)}
	done, refused := 0, map[error]int{}
	for seed := range uint64(6000) {
		rng := rand.New(rand.NewPCG(seed, 17))
		var mems []kernels.Buffer
		for range 4 + rng.IntN(5) {
			mems = append(mems, kernels.NewHostBuffer(kernels.Float32, 12))
		}
		lives := func(b kernels.Buffer) bool { return slices.Index(mems, b) < 2 }
		var step []capture.Launch
		for range 3 + rng.IntN(6) {
			l := capture.Launch{Kernel: kinds[rng.IntN(len(kinds))]}
			for range len(l.Kernel.Params) - 3 {
				at := [][2]int{{0, 12}, {0, 12}, {0, 6}, {6, 6}, {3, 6}}[rng.IntN(5)]
				l.Args = append(l.Args, kernels.BufferArg(mems[rng.IntN(len(mems))], at[0], at[1]))
			}
			l.Args = append(l.Args, kernels.IntArg(1), kernels.IntArg(1), kernels.IntArg(64))
			step = append(step, l)
		}
		var covers []int
		for i := range step {
			if rng.IntN(2) == 0 {
				covers = append(covers, i)
			}
		}
		if len(covers) < 2 {
			continue
		}
		groups := [][]int{covers}
		if at := 1 + rng.IntN(len(covers)-1); rng.IntN(2) == 0 {
			groups = [][]int{covers[:at], covers[at:]}
		}
		some := len(groups) == 1 && rng.IntN(3) == 0 // only some results are written
		nodes, err := replaced(t, step, lives, func(s fusion.Step) fusion.Match {
			m := fusion.Match{Covers: covers}
			for _, group := range groups {
				var reads, writes []kernels.Arg
				for n, i := range group {
					for k, p := range step[i].Kernel.Params {
						if a := step[i].Args[k]; a.Kind == kernels.ArgBuffer {
							if p.Mode.Read() && !madeWhole(step, group[:n], i, a) {
								reads = append(reads, a)
							}
							if p.Mode.Written() && !(some && rng.IntN(2) == 0) {
								writes = append(writes, a)
							}
						}
					}
				}
				m.Launches = append(m.Launches, standIn(group, reads, writes))
			}
			return m
		})
		if err != nil {
			for _, kind := range []error{fusion.ErrProposal, fusion.ErrIntermediate, fusion.ErrMemory, fusion.ErrMeanwhile} {
				if errors.Is(err, kind) {
					refused[kind]++
				}
			}
			continue
		}
		done++
		want, got := contents{}, contents{}
		for n, b := range mems {
			for e := range b.Len() {
				want[b] = append(want[b], digest(n, e))
			}
			got[b] = slices.Clone(want[b])
		}
		for i, l := range step {
			want.do(i, l)
		}
		for _, n := range nodes {
			l := capture.Launch{Kernel: n.kernel, Args: n.args}
			if n.kernel.Name == "k_instead" {
				got.instead(step, n.from, l)
			} else {
				got.do(n.from[0], l)
			}
		}
		for _, b := range mems {
			if lives(b) && !slices.Equal(got[b], want[b]) {
				t.Fatalf("seed %d, %v replaced: memory %d is not what it would be", seed, groups, slices.Index(mems, b))
			}
		}
	}
	if done < 300 || refused[fusion.ErrIntermediate] < 300 || refused[fusion.ErrMeanwhile] < 300 || refused[fusion.ErrProposal] > 0 {
		t.Errorf("%d matches are done, refused are %v", done, refused)
	}
}

// madeWhole reports whether the last launch of a step before launch i that writes to a range is one
// of a list, and writes all of it.
func madeWhole(step []capture.Launch, list []int, i int, a kernels.Arg) bool {
	for i--; i >= 0; i-- {
		for k, p := range step[i].Kernel.Params {
			b := step[i].Args[k]
			if b.Kind == kernels.ArgBuffer && p.Mode.Written() && b.Buf == a.Buf && b.Off < a.Off+a.N && a.Off < b.Off+b.N {
				return slices.Contains(list, i) && b.Off <= a.Off && a.Off+a.N <= b.Off+b.N
			}
		}
	}
	return false
}

// TestProposals: which matches are refused, by what they say.
func TestProposals(t *testing.T) {
	x, way, y, z := kernels.NewHostBuffer(kernels.Float32, 8), kernels.NewHostBuffer(kernels.Float32, 8), kernels.NewHostBuffer(kernels.Float32, 8), kernels.NewHostBuffer(kernels.Float32, 8)
	all := func(b kernels.Buffer) kernels.Arg { return kernels.BufferArg(b, 0, b.Len()) }
	copies := opaque("copy", kernels.In, kernels.Out)
	from := func(a, b kernels.Buffer) capture.Launch {
		return capture.Launch{Kernel: copies, Args: []kernels.Arg{all(a), all(b), kernels.IntArg(1), kernels.IntArg(1), kernels.IntArg(64)}}
	}
	step := []capture.Launch{from(x, way), from(way, y)}
	lives := func(b kernels.Buffer) bool { return b == kernels.Buffer(y) }
	in := func(a ...kernels.Arg) []kernels.Arg { return a }
	both := []int{0, 1}
	good := standIn(nil, in(all(x)), in(all(y)))
	other := func(change func(l *fusion.Launch)) fusion.Match {
		l := good
		l.Args = slices.Clone(l.Args)
		change(&l)
		return fusion.Match{Covers: both, Launches: []fusion.Launch{l}}
	}
	odd := kernels.NewHostBuffer(kernels.Int32, 8)
	foreign := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error { numbers[0] = kernels.IntArg(1); return nil })
	if err := foreign.Next(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		m    fusion.Match
		want error // nil: it is done
		says string
	}{
		{"one launch", fusion.Match{Covers: both, Launches: []fusion.Launch{good}}, nil, ""},
		{"named twice, in another order", fusion.Match{Covers: []int{1, 0, 1}, Launches: []fusion.Launch{good}}, nil, ""},
		{"nothing covered", fusion.Match{Launches: []fusion.Launch{good}}, fusion.ErrProposal, "covers no launch"},
		{"beyond the step", fusion.Match{Covers: []int{0, 2}}, fusion.ErrProposal, "launch 2 of 2"},
		{"before the step", fusion.Match{Covers: []int{-1, 0}}, fusion.ErrProposal, "launch -1 of 2"},
		{"more launches", fusion.Match{Covers: both, Launches: []fusion.Launch{good, good, good}}, fusion.ErrProposal, "3 launches in place of 2"},
		{"no kernel", other(func(l *fusion.Launch) { l.Kernel = nil }), fusion.ErrProposal, "no kernel"},
		{"few arguments", other(func(l *fusion.Launch) { l.Args = l.Args[1:] }), fusion.ErrProposal, "takes 5 arguments, not 4"},
		{"a number for memory", other(func(l *fusion.Launch) { l.Args[0] = kernels.IntArg(1) }), fusion.ErrProposal, "A0, is an int, not memory"},
		{"no memory", other(func(l *fusion.Launch) { l.Args[0].Buf = nil }), fusion.ErrProposal, "is no memory"},
		{"another type", other(func(l *fusion.Launch) { l.Args[1].Buf = odd }), fusion.ErrProposal, "type int32"},
		{"out of range", other(func(l *fusion.Launch) { l.Args[0].N = 9 }), fusion.ErrProposal, "9 elements from 0 on, of memory that has 8"},
		{"a long for an int", other(func(l *fusion.Launch) { l.Args[2] = kernels.LongArg(1 << 40) }), fusion.ErrProposal, "no int of 32 bits"},
		{"a step scalar of others", other(func(l *fusion.Launch) { l.Args[2] = foreign.Arg(0) }), fusion.ErrProposal,
			"is a step scalar that no covered launch takes"},
		{"what it does is not covered", fusion.Match{Covers: []int{1}, Launches: []fusion.Launch{standIn([]int{0}, in(all(way)), in(all(y)))}}, fusion.ErrProposal, "does not cover"},
		{"nothing in its place", fusion.Match{Covers: both}, fusion.ErrIntermediate, "1 k_copy makes on the way is there after the run"},
		{"a part of the result", fusion.Match{Covers: both, Launches: []fusion.Launch{standIn(nil, in(all(x)), in(kernels.BufferArg(y, 0, 7)))}}, fusion.ErrIntermediate, "after the run"},
		{"the result in two parts", fusion.Match{Covers: both, Launches: []fusion.Launch{standIn(nil, in(all(x)), in(kernels.BufferArg(y, 4, 4), kernels.BufferArg(y, 0, 4)))}}, nil, ""},
		{"the maker of what others read", fusion.Match{Covers: []int{0}}, fusion.ErrIntermediate, "1 k_copy reads what 0 k_copy makes on the way"},
		{"other memory is written", fusion.Match{Covers: both, Launches: []fusion.Launch{standIn(nil, in(all(x)), in(all(y), all(z)))}}, fusion.ErrMemory, "k_instead writes memory"},
		{"padding is written", fusion.Match{Covers: both, Launches: []fusion.Launch{standIn(nil, in(all(x)), in(all(y), all(z)))}, Padding: in(all(z))}, nil, ""},
		{"what is replaced is read", fusion.Match{Covers: both, Launches: []fusion.Launch{standIn(nil, in(all(way)), in(all(y)))}}, fusion.ErrMemory, "reads what 0 k_copy makes, which it replaces"},
		{"memory that nobody writes is read", fusion.Match{Covers: both, Launches: []fusion.Launch{standIn(nil, in(all(x), all(z)), in(all(y)))}}, nil, ""},
	} {
		nodes, err := replaced(t, step, lives, func(fusion.Step) fusion.Match { return c.m })
		if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v: %s", c.name, err, c.want, c.says)
		}
		if want := 2 - btoi(c.want == nil); len(nodes) != want {
			t.Errorf("%s: %d launches, want %d", c.name, len(nodes), want)
		}
	}
	_, err := replaced(t, step, lives, func(s fusion.Step) fusion.Match {
		return fusion.Match{Covers: both, Launches: []fusion.Launch{standIn(nil, in(s.New(kernels.Float32, 8)), in(all(y)))}}
	})
	if !errors.Is(err, fusion.ErrMemory) {
		t.Errorf("new memory that nobody writes: %v", err)
	}
	nodes, err := replaced(t, step, lives, func(s fusion.Step) fusion.Match {
		own := s.New(kernels.Float32, 8)
		return fusion.Match{Covers: both, Launches: []fusion.Launch{standIn([]int{0}, in(all(x)), in(own)), standIn([]int{1}, in(own), in(all(y)))}}
	})
	if err != nil || len(nodes) != 2 {
		t.Errorf("new memory on the way: %d launches, %v", len(nodes), err)
	}
}

// TestForeignScalars: a match passes the numbers that covered launches take: of the same owner, place and turn.
func TestForeignScalars(t *testing.T) {
	scalars := kernels.NewStepScalars(2, func(n []kernels.Arg) error {
		n[0], n[1] = kernels.IntArg(1), kernels.IntArg(1)
		return nil
	})
	next := func(number int) kernels.Arg {
		if err := scalars.Next(); err != nil {
			t.Fatal(err)
		}
		return scalars.Arg(number)
	}
	first := next(0)
	second, later := scalars.Arg(1), next(0)
	of := []*node{{args: []kernels.Arg{kernels.IntArg(3), first}}}
	for i, c := range []struct {
		arg  kernels.Arg
		want int
	}{{first, -1}, {second, 1}, {later, 1}, {kernels.IntArg(5), -1}} {
		if got := foreignScalar([]kernels.Arg{first, c.arg}, of); got != c.want {
			t.Errorf("case %d: %d, want %d", i, got, c.want)
		}
	}
}

// TestProposalsOfOneLaunch: of two matches that cover a launch the former is done.
func TestProposalsOfOneLaunch(t *testing.T) {
	x, y := kernels.NewHostBuffer(kernels.Float32, 8), kernels.NewHostBuffer(kernels.Float32, 8)
	all := []kernels.Arg{kernels.BufferArg(x, 0, 8), kernels.BufferArg(y, 0, 8)}
	m := fusion.Match{Covers: []int{0}, Launches: []fusion.Launch{standIn(nil, all[:1], all[1:])}}
	defer fusion.Register(fusion.Fusion{Name: "test",
		Match: func(fusion.Step) []fusion.Match { return []fusion.Match{m, m} }})()
	dev := trusting()
	step := []capture.Launch{touching([]kernels.Mode{kernels.In, kernels.Out}, all...)}
	if _, err := rewriteLaunches(only("test"), gpu, step, always, never, dev); err != nil {
		t.Fatal(err)
	}
	if dev.fused != 1 || !errors.Is(dev.notFused, fusion.ErrCovered) {
		t.Errorf("%d matches are done: %v", dev.fused, dev.notFused)
	}
}

// TestProposalOfGaps: a map that leaves gaps makes what a map with the same gaps does, and no more.
func TestProposalOfGaps(t *testing.T) {
	x, y := kernels.NewHostBuffer(kernels.Float32, 15), kernels.NewHostBuffer(kernels.Float32, 15)
	every := func(step, n int) capture.Launch {
		l := mapped(fn.Neg, []int{n}, view{x, 0, []int{step}}, view{y, 0, []int{step}})
		l.Kernel.Host = kernels.HostKernel{F32: func(kernels.HostArgs[float32]) {}}
		return l
	}
	all, gaps, others := every(1, 15), every(2, 8), every(7, 3)
	for _, c := range []struct {
		name         string
		was, instead capture.Launch
		want         error
	}{
		{"all", all, all, nil},
		{"the same gaps", gaps, gaps, nil},
		{"all, for some", gaps, all, fusion.ErrMemory},
		{"some, for all", all, gaps, fusion.ErrIntermediate},
		{"other gaps", gaps, others, fusion.ErrIntermediate},
	} {
		m := fusion.Match{Covers: []int{0}, Launches: []fusion.Launch{{Kernel: c.instead.Kernel, Args: c.instead.Args}}}
		_, err := replaced(t, []capture.Launch{c.was}, func(b kernels.Buffer) bool { return b == y },
			func(fusion.Step) fusion.Match { return m })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// TestOnceProposals: a launch of a match that is done when the step is recorded comes first, makes new
// memory of what is the same in all runs, and leaves places to the others.
func TestOnceProposals(t *testing.T) {
	x, way, y, known := kernels.NewHostBuffer(kernels.Float32, 8), kernels.NewHostBuffer(kernels.Float32, 8),
		kernels.NewHostBuffer(kernels.Float32, 8), kernels.NewHostBuffer(kernels.Float32, 8)
	all := func(b kernels.Buffer) kernels.Arg { return kernels.BufferArg(b, 0, b.Len()) }
	in := func(a ...kernels.Arg) []kernels.Arg { return a }
	copies := opaque("copy", kernels.In, kernels.Out)
	scalars := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error { numbers[0] = kernels.IntArg(1); return nil })
	if err := scalars.Next(); err != nil {
		t.Fatal(err)
	}
	from := func(a, b kernels.Buffer) capture.Launch {
		return capture.Launch{Kernel: copies, Args: []kernels.Arg{all(a), all(b), kernels.IntArg(1), kernels.IntArg(1),
			scalars.Arg(0)}}
	}
	once := func(reads, writes []kernels.Arg) fusion.Launch {
		l := standIn(nil, reads, writes)
		l.Once = true
		return l
	}
	for _, c := range []struct {
		name     string
		launches func(table, other kernels.Arg) []fusion.Launch
		want     error // nil: it is done
		says     string
	}{
		{"a table", func(table, _ kernels.Arg) []fusion.Launch {
			return []fusion.Launch{once(nil, in(table)), standIn(nil, in(all(x), table), in(all(y)))}
		}, nil, ""},
		{"a table of constants and of another, beside as many launches as are covered",
			func(table, other kernels.Arg) []fusion.Launch {
				return []fusion.Launch{once(in(all(known)), in(table)), once(in(table), in(other)),
					standIn([]int{0}, in(all(x), other), in(all(way))), standIn([]int{1}, in(all(way), table), in(all(y)))}
			}, nil, ""},
		{"after another", func(table, _ kernels.Arg) []fusion.Launch {
			return []fusion.Launch{standIn(nil, in(all(x)), in(all(y))), once(nil, in(table))}
		}, fusion.ErrProposal, "done once follows one that each run does"},
		{"a step scalar", func(table, _ kernels.Arg) []fusion.Launch {
			l := once(nil, in(table))
			l.Args[len(l.Args)-1] = scalars.Arg(0)
			return []fusion.Launch{l, standIn(nil, in(all(x), table), in(all(y)))}
		}, fusion.ErrProposal, "a number of it is a step scalar"},
		{"of an input", func(table, _ kernels.Arg) []fusion.Launch {
			return []fusion.Launch{once(in(all(x)), in(table)), standIn(nil, in(all(x), table), in(all(y)))}
		}, fusion.ErrMemory, "reads what may be other in each run"},
		{"of new memory", func(table, other kernels.Arg) []fusion.Launch {
			return []fusion.Launch{once(in(other), in(table)), standIn(nil, in(all(x), table), in(all(y)))}
		}, fusion.ErrMemory, "reads what may be other in each run"},
		{"a result", func(_, _ kernels.Arg) []fusion.Launch {
			return []fusion.Launch{once(nil, in(all(y))), standIn(nil, in(all(x)), in(all(way)))}
		}, fusion.ErrMemory, "writes memory that is not new"},
		{"written later, too", func(table, _ kernels.Arg) []fusion.Launch {
			return []fusion.Launch{once(nil, in(table)), standIn(nil, in(all(x)), in(all(y), table))}
		}, fusion.ErrMemory, "writes memory of a launch that is done once"},
	} {
		remove := fusion.Register(fusion.Fusion{Name: "test", Match: func(s fusion.Step) []fusion.Match {
			return []fusion.Match{{Covers: []int{0, 1}, Launches: c.launches(s.New(kernels.Float32, 8),
				s.New(kernels.Float32, 8))}}
		}})
		// A second fusion covers what the first has made: its table is a constant.
		next := fusion.Register(fusion.Fusion{Name: "test-2", Match: func(s fusion.Step) (found []fusion.Match) {
			for i, l := range s.Launches() {
				for _, a := range l.Reads {
					if _, new := a.Buf.(*newBuffer); new {
						if !s.Constant(a.Buf) {
							t.Errorf("%s: the table is no constant", c.name)
						}
						more := s.New(kernels.Float32, 8)
						found = append(found, fusion.Match{Covers: []int{i}, Launches: []fusion.Launch{
							once(in(a), in(more)), standIn([]int{i}, append(l.Reads, more), l.Writes)}})
						return found
					}
				}
			}
			return nil
		}})
		dev := trusting()
		nodes, err := rewriteLaunches(only("test", "test-2"), gpu, []capture.Launch{from(x, way), from(way, y)},
			func(b kernels.Buffer) bool { return b == kernels.Buffer(y) },
			func(b kernels.Buffer) bool { return b == kernels.Buffer(known) }, dev)
		next()
		remove()
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(dev.notFused, c.want) || c.want != nil && !strings.Contains(dev.notFused.Error(), c.says) {
			t.Errorf("%s: %v, want %v: %s", c.name, dev.notFused, c.want, c.says)
		}
		if want := 2 * btoi(c.want == nil); dev.fused != want {
			t.Errorf("%s: %d are fused, want %d", c.name, dev.fused, want)
		}
		before := 0
		for i, n := range nodes {
			if n.once {
				before += btoi(i == before)
			}
		}
		if made := slices.ContainsFunc(nodes, func(n *node) bool { return n.once }); made != (c.want == nil) || made &&
			before < 2 {
			t.Errorf("%s: %d launches are done once, before %d others", c.name, before, len(nodes)-before)
		}
	}
}
