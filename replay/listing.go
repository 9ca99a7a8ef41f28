package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// source is what a launch of the step is part of.
type source struct{ operation, layer string }

// String returns "blocks.3.up: Linear".
func (p source) String() string {
	if p.layer == "" {
		return p.operation
	}
	return p.layer + ": " + p.operation
}

// named is a tensor with a name that lies in a buffer.
type named struct {
	off   int
	shape []int
	name  string
}

// listing is launches to be shown, and the memory that they name.
type listing struct {
	launches []listed
	values   []value
}

// listed is a launch with arguments whose memory stands for that of the device, which the listing does not keep.
type listed struct {
	kernel        *kernels.Kernel
	args          []kernels.Arg
	from          []int
	parts         []fused.Launch // the launches that it is, if its kernel does not say what it computes
	reads, writes int64          // bytes
}

// value is memory that launches name.
type value struct {
	kind  valueKind
	state bool // memory older than Record that the step writes
	shape []int
	parts []named
}

// valueKind is what memory is in a step.
type valueKind int

const (
	ownMemory   valueKind = iota // made by the step, and planned
	olderMemory                  // older than Record: an input, a parameter, a moment
	uploaded                     // a constant
	returned                     // an output
)

// shadow stands for memory of the device: value id of a listing.
type shadow struct {
	dtype kernels.DType
	n, id int
}

func (s *shadow) DType() kernels.DType { return s.dtype }
func (s *shadow) Len() int             { return s.n }

// list returns nodes as a listing; of says what memory is.
func list(nodes []*node, of func(b kernels.Buffer) value) *listing {
	l := &listing{}
	ids := map[kernels.Buffer]*shadow{}
	shadows := func(k *kernels.Kernel, args []kernels.Arg) []kernels.Arg {
		args = slices.Clone(args)
		for i := range args {
			a := &args[i]
			if a.Kind != kernels.ArgBuffer || a.Buf == nil {
				continue
			}
			s := ids[a.Buf]
			if s == nil {
				s = &shadow{a.Buf.DType(), a.Buf.Len(), len(l.values)}
				ids[a.Buf] = s
				l.values = append(l.values, of(a.Buf))
			}
			l.values[s.id].state = l.values[s.id].state || k.Params[i].Mode.Written() && a.N > 0
			a.Buf = s
		}
		return args
	}
	for _, n := range nodes {
		x := listed{kernel: n.kernel, args: shadows(n.kernel, n.args), from: n.from, reads: bytesOfAll(n.reads), writes: bytesOfAll(n.writes)}
		if n.kernel.Semantics == nil {
			for _, p := range n.chain {
				x.parts = append(x.parts, fused.Launch{Kernel: p.kernel, Args: shadows(p.kernel, p.args)})
			}
		}
		l.launches = append(l.launches, x)
	}
	return l
}

func bytesOfAll(list []region) (bytes int64) {
	for i := range list {
		bytes += list[i].bytes()
	}
	return bytes
}

// values returns a function that says what memory is in the step.
func (b *builder) values(constants map[any]kernels.Buffer) func(buf kernels.Buffer) value {
	uploads := map[kernels.Buffer]bool{}
	for key, to := range constants {
		uploads[to] = true
		if from, is := key.(kernels.Buffer); is {
			uploads[from] = true
		}
	}
	return func(buf kernels.Buffer) value {
		v := value{shape: b.run.shapes[buf], parts: b.run.named[buf]}
		_, isTable := buf.(*table)
		switch {
		case b.returned[buf]:
			v.kind = returned
		case isTable || uploads[buf]:
			v.kind = uploaded
		case b.run.origin(buf) != made:
			v.kind = olderMemory
		}
		return v
	}
}

// printer prints the launches of a listing, one after the other.
type printer struct {
	*listing
	writer [][]written    // of each value, in order
	counts map[string]int // names given to each kind
	names  []string       // of values that have one
}

// written is that a launch wrote elements of a value.
type written struct{ lo, hi, launch, result int }

func newPrinter(l *listing) *printer {
	return &printer{listing: l, counts: map[string]int{}, writer: make([][]written, len(l.values)), names: make([]string, len(l.values))}
}

// base names memory that is not the step's own: "input0", "blocks.0.up.weight", "constant1".
func (p *printer) base(id, off, n int) string {
	v := &p.values[id]
	for _, part := range v.parts {
		if size := lengthOf(part.shape); part.off <= off && off+n <= part.off+size {
			return part.name
		}
	}
	if p.names[id] == "" {
		word := [...]string{"tmp", "input", "constant", "output"}[v.kind]
		switch {
		case len(v.parts) > 0 && strings.HasSuffix(v.parts[0].name, ".grad"):
			word = "gradients"
		case len(v.parts) > 0:
			word = "parameters"
		case v.kind == olderMemory && v.state:
			word = "state"
		}
		p.names[id] = fmt.Sprintf("%s%d", word, p.counts[word])
		p.counts[word]++
	}
	return p.names[id]
}

func lengthOf(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// operand names what a launch reads by argument a.
func (p *printer) operand(a *kernels.Arg) string {
	s, is := a.Buf.(*shadow)
	if !is {
		return "none"
	}
	for _, w := range slices.Backward(p.writer[s.id]) {
		if w.lo < a.Off+a.N && a.Off < w.hi {
			return fmt.Sprintf("%%%d", w.launch) + suffix(p.launches[w.launch], w.result)
		}
	}
	return p.base(s.id, a.Off, a.N)
}

// suffix tells the results of a launch apart that has several.
func suffix(l listed, result int) string {
	if l.results() == 1 {
		return ""
	}
	return fmt.Sprintf(".%d", result)
}

// results is how many arguments a launch writes.
func (l *listed) results() (n int) {
	for i, p := range l.kernel.Params {
		if p.Mode.Written() && l.args[i].N > 0 {
			n++
		}
	}
	return n
}

// shape is the shape of what an argument names: that of the tensor, if it is all of it.
func (p *printer) shape(a *kernels.Arg) string {
	s, is := a.Buf.(*shadow)
	if !is {
		return ""
	}
	v, shape := &p.values[s.id], []int{a.N}
	if lengthOf(v.shape) == a.N && v.shape != nil {
		shape = v.shape
	}
	for _, part := range v.parts {
		if part.off == a.Off && lengthOf(part.shape) == a.N {
			shape = part.shape
		}
	}
	return short(s.dtype) + strings.ReplaceAll(fmt.Sprint(shape), " ", ",")
}

// short names an element type as XLA does: f32, bf16, s32.
func short(t kernels.DType) string {
	name := t.String()
	for _, c := range [][2]string{{"bfloat", "bf"}, {"float", "f"}, {"uint", "u"}, {"int", "s"}} {
		if rest, is := strings.CutPrefix(name, c[0]); is {
			return c[1] + rest
		}
	}
	return name
}

// launch returns the next launch in a line, and what it stores elsewhere than in memory of the step's own.
func (p *printer) launch(i int) string {
	l := p.launches[i]
	text := p.operations(l)
	var shapes, stored []string
	result := 0
	for k, param := range l.kernel.Params {
		a := &l.args[k]
		if !param.Mode.Written() || a.N == 0 {
			continue
		}
		shapes = append(shapes, p.shape(a))
		s, is := a.Buf.(*shadow)
		if !is {
			continue
		}
		if v := &p.values[s.id]; v.kind != ownMemory {
			to := p.base(s.id, a.Off, a.N)
			stored = append(stored, to)
		}
		p.writer[s.id] = append(p.writer[s.id], written{a.Off, a.Off + a.N, i, result})
		result++
	}
	line := fmt.Sprintf("%%%d = %s  %s", i, text, strings.Join(slices.Compact(shapes), " "))
	if len(stored) > 0 {
		line += " → " + strings.Join(slices.Compact(stored), ", ")
	}
	return line
}
