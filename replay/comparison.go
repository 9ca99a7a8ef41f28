package replay

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
)

// compareBytes is how much memory both sides of a comparison may take: larger matches are not compared.
const compareBytes = 256 << 20

// comparison is launches on memory of their own, which holds the same random elements each time.
type comparison struct {
	b      *builder
	memory map[kernels.Buffer]span // of the step, as far as the launches name it
	order  []kernels.Buffer
}

// compare does launches and then others, each on the same random operands, and says how the results
// differ: by more than within times the largest of a result, or in any bit if that is 0.
func (b *builder) compare(before, after []capture.Launch, results []region, within float64) error {
	t := &comparison{b: b, memory: map[kernels.Buffer]span{}}
	for _, l := range before {
		t.add(l)
	}
	for _, l := range after {
		t.add(l)
	}
	key := fmt.Sprint(t.key(before), "→", t.key(after), " within ", within)
	for _, g := range results {
		lo := t.memory[g.buf].lo
		key += fmt.Sprint(" ", slices.Index(t.order, g.buf), g.span.lo-lo, g.span.hi-lo, g.dims, g.view.strides)
	}
	if err, known := b.compared[key]; known {
		return err
	}
	err := t.compare(before, after, results, within)
	b.compared[key] = err
	return err
}

// add takes in the memory that a launch names.
func (t *comparison) add(l capture.Launch) {
	for _, a := range l.Args {
		if a.Kind != kernels.ArgBuffer {
			continue
		}
		s, known := t.memory[a.Buf]
		if !known {
			t.order = append(t.order, a.Buf)
			s = span{a.Off, a.Off + a.N}
		}
		lo := min(s.lo, a.Off)
		begin := align / a.Buf.DType().Size() // kernels may rely on where memory begins
		t.memory[a.Buf] = span{lo / begin * begin, max(s.hi, a.Off+a.N)}
	}
}

// key is the same for launches that do the same on other memory.
func (t *comparison) key(list []capture.Launch) string {
	number := map[kernels.Buffer]int{}
	for i, buf := range t.order {
		number[buf] = i
	}
	var s strings.Builder
	for _, l := range list {
		fmt.Fprintf(&s, "%p", l.Kernel)
		for _, a := range l.Args {
			if a.Kind == kernels.ArgBuffer {
				fmt.Fprintf(&s, " %d %v+%d:%d", number[a.Buf], a.Buf.DType(), a.Off-t.memory[a.Buf].lo, a.N)
			} else {
				fmt.Fprintf(&s, " %d,%x", a.Int, math.Float64bits(a.Float))
			}
		}
	}
	return s.String()
}

func (t *comparison) compare(before, after []capture.Launch, results []region, within float64) error {
	bytes := int64(0)
	for _, buf := range t.order {
		bytes += int64(t.memory[buf].hi-t.memory[buf].lo) * int64(buf.DType().Size())
	}
	if bytes > compareBytes {
		t.b.opt.say("a match of %d launches is not compared with them: it takes %d MiB", len(before), bytes>>20)
		return nil
	}
	for _, nan := range []bool{false, true} {
		want, err := t.run(before, nan)
		if err != nil {
			return err
		}
		got, err := t.run(after, nan)
		if err != nil {
			return err
		}
		for k := range results {
			g := &results[k]
			lo := t.memory[g.buf].lo
			if why := differ(got[g.buf], want[g.buf], g, lo, within); why != "" {
				return fmt.Errorf("result %d, of %d elements, %s", k, g.span.hi-g.span.lo, why)
			}
		}
	}
	return nil
}

// differ says how elements of a region differ in two memories that begin at element lo of it.
func differ(got, want *kernels.HostBuffer, g *region, lo int, within float64) string {
	largest, worst, at := 0.0, 0.0, -1
	for e := range g.elements() {
		x, y := got.At(e-lo), want.At(e-lo)
		same := math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
		if a := math.Abs(y); a > largest && !math.IsInf(a, 0) {
			largest = a
		}
		if same {
			continue
		}
		off := math.Abs(x - y)
		if math.IsNaN(off) {
			off = math.Inf(1)
		}
		if off > worst || at < 0 {
			worst, at = off, e
		}
	}
	if at < 0 || within > 0 && worst <= within*largest {
		return ""
	}
	return fmt.Sprintf("has %v at element %d where the launches that it replaces make %v: "+
		"off by %.2g of the largest, Match.Within is %g",
		got.At(at-lo), at-g.span.lo, want.At(at-lo), worst/largest, within)
}

// elements yields the places of a region's elements.
func (a *region) elements() func(yield func(int) bool) {
	return func(yield func(int) bool) {
		if a.dims == nil {
			for e := a.span.lo; e < a.span.hi; e++ {
				if !yield(e) {
					return
				}
			}
			return
		}
		var walk func(d, at int) bool
		walk = func(d, at int) bool {
			if d == len(a.dims) {
				return yield(at)
			}
			for i := range a.dims[d] {
				if !walk(d+1, at+i*a.view.strides[d]) {
					return false
				}
			}
			return true
		}
		walk(0, a.view.off)
	}
}

// run does launches on memory of their own, and returns what that holds then. Among the operands is
// one NaN in each memory if nan is set.
func (t *comparison) run(list []capture.Launch, nan bool) (map[kernels.Buffer]*kernels.HostBuffer, error) {
	b, own, host := t.b, map[kernels.Buffer]kernels.Buffer{}, map[kernels.Buffer]*kernels.HostBuffer{}
	defer func() {
		for _, mem := range own {
			b.d.Release(mem)
		}
	}()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, buf := range t.order {
		n := t.memory[buf].hi - t.memory[buf].lo
		mem, err := b.d.Alloc(buf.DType(), max(n, 1))
		if err != nil {
			return nil, err
		}
		own[buf], host[buf] = mem, drawn(rng, buf.DType(), n)
		if nan && n > 0 && !buf.DType().Integer() {
			host[buf].Set(n/2, math.NaN())
		}
		if err := b.d.Upload(mem, 0, host[buf]); err != nil {
			return nil, err
		}
	}
	launches := make([]capture.Launch, len(list))
	for i, l := range list {
		launches[i] = capture.Launch{Kernel: l.Kernel, Args: append([]kernels.Arg(nil), l.Args...)}
		for k := range l.Args {
			if a := &launches[i].Args[k]; a.Kind == kernels.ArgBuffer {
				a.Buf, a.Off = own[a.Buf], a.Off-t.memory[a.Buf].lo
			}
		}
	}
	if err := b.launch(launches); err != nil {
		return nil, err
	}
	for buf, mem := range own {
		if err := b.d.Download(host[buf], mem, 0); err != nil {
			return nil, err
		}
	}
	return host, nil
}

// drawn returns random elements: floats in [−1, 1), and integers that are 0 or 1, as masks and
// indices are.
func drawn(rng *rand.Rand, t kernels.DType, n int) *kernels.HostBuffer {
	m := kernels.NewHostBuffer(t, n)
	for i := range n {
		if t.Integer() {
			m.Set(i, float64(rng.IntN(2)))
		} else {
			m.Set(i, 2*rng.Float64()-1)
		}
	}
	return m
}
