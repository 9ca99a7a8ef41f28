package fused

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/lowbit"
)

// MapRank is the highest rank of a map, and MapTensors the most tensors that it reads and writes.
const (
	MapRank    = 8
	MapTensors = kernels.MapOperands + kernels.MapResults

	MapVector    = 4  // elements that a work-item of a GPU computes of aligned tensors
	MapVectorCPU = 16 // elements in a vector of a CPU: one of AVX-512, two of AVX
)

// Access is how a tensor goes along the innermost axis of a map.
type Access uint8

// The accesses. The kernel of a map is built for those of its tensors; its other strides are
// arguments.
const (
	Contiguous Access = iota // from each element to its neighbour
	Broadcast                // nowhere: one element for the whole axis
	Strided                  // by a stride that is an argument
	Indexed                  // it does not: it is read by index
)

// AccessPattern is what the kernel of a map is built for, beside its function and type.
type AccessPattern struct {
	Rank  int                // of the loops, 1 to MapRank, after axes that can be one were made one
	Steps [MapTensors]Access // of the operands that occur, in their order, then of the results
	// Types says which tensors are of another type than the map computes in: they are converted where
	// they are read, and where they are stored. The zero DType is the map's type.
	Types [MapTensors]kernels.DType
	Cast  lowbit.CastOptions // how numbers become elements of types for storage
	// Gaps says that a result is a non-contiguous view: not all of its memory is written.
	Gaps bool
	// Aligned says that every row of every Contiguous tensor begins at a multiple of MapVector
	// elements of its memory, and has a multiple of them, or that there is one row: then GPUs move
	// whole vectors.
	Aligned bool
}

// mapKey identifies a kernel of a function.
type mapKey struct {
	layout AccessPattern
	typ    kernels.DType // Float32 stands for the device's floats
}

// Map returns the kernel that computes functions on tensors of type t, as they are laid out; there is one
// for each layout, and devices build it once. It computes in t.Widened(), in which integers wrap
// around; as integers, floats are cut off, and become the nearest that there is. Masks, and the
// result of a condition, are of Uint8 whatever t is; what is read by index is of what it computes in.
// Its arguments, for m operands that occur, and k = Rank − 1 outer axes:
//
//	X0 … X{m−1}, Y    the operands that occur, in their order, and the result, or the results Y0, Y1 …
//	n                 elements of the innermost axis
//	rows, d1 … d{k−1} if k > 0: the product of all outer dimensions, and all of them but the first
//	T_0 … T_{k−1}     for each tensor T, operands first: its strides along the outer axes,
//	T_n               and along the innermost, if it is Strided; of one that is Indexed, its number of elements alone
//	s0 …              the scalars that occur
//
// A tensor that is repeated along an axis has the stride 0 there. Y may be an operand of the same
// strides.
func Map(j *kernels.FusedElementwise, t kernels.DType, l AccessPattern) *kernels.Kernel {
	c := cacheOf(j)
	given := mapKey{l, t}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.maps[given]
	if k != nil {
		return k
	}
	t, l = normal(j, t, l)
	key := mapKey{l, t}
	if k = c.maps[key]; k == nil {
		k = newMap(j, t, l)
		c.maps[key] = k
	}
	c.maps[given] = k
	return k
}

// mapSpec is a map while its kernel is made.
type mapSpec struct {
	j *kernels.FusedElementwise
	f *kernels.Function // the first of them
	// typ is what it is computed in: Float32 for floats, Int32, Int64 or Uint64; of moved elements, their type.
	typ     kernels.DType
	l       AccessPattern
	types   []kernels.DType // of the tensors
	mixed   bool            // some are of other types than it is computed in, beside masks
	uses    []int           // the operands that occur
	scalars []int           // those that occur
	outer   int             // axes
	value   int             // the tensor that is no argument, but what a kernel stores: see FuseEpilogue; −1: none
	prefix  string          // of the functions of its text

	// Of the functions, which are asked once.
	program      *expr.Program
	axes         []int // whose indices they read
	gathers      bool  // they read operands by index
	operandCount int   // how many they take
}

func newMap(j *kernels.FusedElementwise, t kernels.DType, l AccessPattern) *kernels.Kernel {
	m := newMapSpec(j, t, l)
	k := &kernels.Kernel{Name: j.Entry(), File: m.file(true), GPU: m.file(false), Text: m.text(true),
		GPUText: m.text(false),
		Params:  m.params(), Grid: m.grid, Host: m.host(), Cases: m.cases, Semantics: m.semantics}
	if t != kernels.Float32 {
		k.Defines = t.Define()
	}
	k.Moves = m.moves()
	k.Tol, k.SelfTest = m.tolerance(), m.selfTest
	forms := Fusions{Rows: m.rowSpec(), Batch: m.batchSpec()}
	if m.ofStorage() {
		k.Semantics, forms.Rows = nil, nil // its bytes are no numbers to those who read them
		k.Defines = strings.TrimSpace(k.Defines + m.castDefines())
	}
	k.Fusions = forms
	return k
}

func newMapSpec(j *kernels.FusedElementwise, t kernels.DType, l AccessPattern) *mapSpec {
	m := &mapSpec{j: j, f: j.Functions[0], typ: t, l: l, outer: l.Rank - 1, value: -1,
		program: j.Program(), axes: j.Axes(), operandCount: j.Operands()}
	m.uses = operandsOf(j)
	for i := range m.operandCount {
		m.gathers = m.gathers || j.Gathers(i)
	}
	for i := range len(m.f.Scalars) {
		if j.UsesScalar(i) {
			m.scalars = append(m.scalars, i)
		}
	}
	add := func(bytes bool) {
		typ := l.Types[len(m.types)]
		switch {
		case bytes:
			typ = kernels.Uint8
		case typ == kernels.Float32:
			typ = t
		default:
			m.mixed = true
		}
		m.types = append(m.types, typ)
	}
	for _, i := range m.uses {
		add(user(j, i).Mask(i))
	}
	for _, f := range j.Functions {
		add(f.Condition())
	}
	return m
}

// operandsOf returns the operands that occur.
func operandsOf(j *kernels.FusedElementwise) (uses []int) {
	for i := range j.Operands() {
		if j.Uses(i) {
			uses = append(uses, i)
		}
	}
	return uses
}

// castDefines are the compiler options that say how numbers become elements of types for storage.
func (m *mapSpec) castDefines() (options string) {
	if m.l.Cast.NoSaturation {
		options = " -DSATURATE=0"
	}
	if r := m.l.Cast.E8M0; r != lowbit.RoundUp {
		options += fmt.Sprint(" -DE8M0_ROUNDING=", r)
	}
	return options
}

// normal returns the type that a map of elements of type t computes in, or in which it moves them, and
// the layout with the types of the tensors that are of others.
func normal(j *kernels.FusedElementwise, t kernels.DType, l AccessPattern) (kernels.DType, AccessPattern) {
	uses := operandsOf(j)
	switch t {
	case kernels.Float64:
		t = kernels.Float32
	case kernels.Bool:
		t = kernels.Uint8
	}
	typ := t.Widened()
	for i := range len(uses) + len(j.Functions) {
		own := &l.Types[i]
		mask := i < len(uses) && user(j, uses[i]).Mask(uses[i]) || i >= len(uses) && j.Functions[i-len(uses)].Condition()
		if mask || l.Steps[i] == Indexed {
			*own = kernels.Float32 // it is of bytes, or of the type that is computed in
			continue
		}
		if *own == kernels.Float32 {
			*own = t
		}
		switch *own {
		case kernels.Bool:
			*own = kernels.Uint8
		case typ:
			*own = kernels.Float32
		}
	}
	f, one := j.Functions[0], len(uses) == 1 && len(j.Functions) == 1
	if one && f.Is(uses[0]) && !f.Mask(uses[0]) && l.Types[0] == l.Types[1] { // it moves elements
		if l.Types[0] != kernels.Float32 {
			typ = l.Types[0]
		}
		typ = typ.Moved()
		l.Types = [MapTensors]kernels.DType{}
	}
	if !slices.ContainsFunc(l.Types[len(uses):len(uses)+len(j.Functions)], kernels.DType.Storage) {
		l.Cast = lowbit.CastOptions{}
	}
	return typ, l
}

// file returns the name of the source for CPUs or other devices: the function's, and how it is laid
// out if that is not without gaps, as in k_add.2ufu.cl: the rank, and the step of each tensor by
// its first letter, and behind it the type, if it has one of its own: f16, i8.
func (m *mapSpec) file(cpu bool) string {
	name := m.j.Entry()
	if m.typ != kernels.Float32 {
		name += "." + m.typ.String()
	}
	if m.l.Cast.NoSaturation {
		name += ".nosat"
	}
	name += [...]string{"", ".down", ".nearest"}[m.l.Cast.E8M0]
	plain := m.l.Rank == 1 && !m.l.Gaps
	code := fmt.Sprint(m.l.Rank)
	for t := range m.tensors() {
		plain = plain && m.l.Steps[t] == Contiguous
		code += [...]string{"u", "f", "s", "i"}[m.l.Steps[t]]
		if !m.own(t) && !m.mask(t) {
			plain = false
			code += shortNames.Replace(m.types[t].String())
		}
	}
	if !plain {
		name += "." + code
	}
	if !cpu && m.l.Aligned {
		name += ".vector"
	}
	if !cpu {
		name += ".gpu"
	}
	return name + ".cl"
}

var shortNames = strings.NewReplacer("bfloat", "b", "float", "f", "uint", "u", "int", "i")

// tensors returns how many there are: operands and results.
func (m *mapSpec) tensors() int { return len(m.uses) + len(m.j.Functions) }

// result reports whether a tensor is one.
func (m *mapSpec) result(tensor int) bool { return tensor >= len(m.uses) }

// name returns the name of a tensor's parameter.
func (m *mapSpec) name(tensor int) string {
	switch y := tensor - len(m.uses); {
	case y >= 0 && len(m.j.Functions) > 1:
		return fmt.Sprintf("Y%d", y)
	case y == 0:
		return "Y"
	}
	return fmt.Sprintf("X%d", tensor)
}

// Where the arguments are.
func (m *mapSpec) nAt() int    { return m.tensors() }
func (m *mapSpec) rowsAt() int { return m.nAt() + 1 }
func (m *mapSpec) dimsAt() int { return m.rowsAt() + 1 } // the first is d1
func (m *mapSpec) stridesAt(tensor int) int {
	at := m.nAt() + 1
	if m.outer > 0 {
		at += m.outer // rows, and all dimensions but the first
	}
	for t := range tensor {
		switch m.l.Steps[t] {
		case Strided:
			at += m.outer + 1
		case Indexed:
			at++
		default:
			at += m.outer
		}
	}
	return at
}
func (m *mapSpec) scalarsAt() int { return m.stridesAt(m.tensors()) }

func (m *mapSpec) params() []kernels.Param {
	var ps []kernels.Param
	for t := range m.tensors() {
		mode := kernels.In
		if m.result(t) {
			mode = kernels.Out
			if m.l.Gaps {
				mode = kernels.InOut
			}
		}
		ps = append(ps, kernels.Param{Name: m.name(t), Mode: mode.Of(m.types[t])})
	}
	add := func(format string, a ...any) {
		ps = append(ps, kernels.Param{Name: fmt.Sprintf(format, a...), Mode: kernels.IntParam})
	}
	add("n")
	if m.outer > 0 {
		add("rows")
		for d := 1; d < m.outer; d++ {
			add("d%d", d)
		}
	}
	for t := range m.tensors() {
		for d := range m.outer {
			if m.l.Steps[t] != Indexed {
				add("%s_%d", m.name(t), d)
			}
		}
		if m.l.Steps[t] == Strided || m.l.Steps[t] == Indexed {
			add("%s_n", m.name(t))
		}
	}
	for _, s := range m.scalars {
		mode := kernels.FloatParam
		switch {
		case m.typ == kernels.Int32 || m.j.IntScalar(s):
			mode = kernels.IntParam
		case m.typ != kernels.Float32:
			mode = kernels.LongParam
		}
		ps = append(ps, kernels.Param{Name: fmt.Sprintf("s%d", s), Mode: mode})
	}
	return ps
}

// On CPUs a work-item computes mapChunk elements, of several rows where those are short: PoCL's
// start of a work-group costs as much as some hundred additions. Where a tensor is Strided it goes
// over tiles of mapTall rows and mapWide columns, and copies that tensor's elements to memory of
// its own first, in the order in which they lie: so each line of the cache is read once, even where
// the rows of a matrix of a power of two take each other's place in it.
const (
	mapChunk = 4096
	mapTall  = 64
	mapWide  = 64
)

// On GPUs the tiles are squares of gpuTile, which gpuTile by gpuTall work-items share.
const (
	gpuTile = 32
	gpuTall = 8
)

// run returns how many rows a work-item of a CPU computes.
func (m *mapSpec) run(n int) int {
	r := max(1, mapChunk/max(n, 1))
	if m.tiles() {
		r = max(r, mapTall)
	}
	return r
}

// strided reports whether a tensor is.
func (m *mapSpec) strided() bool {
	for t := range m.tensors() {
		if m.l.Steps[t] == Strided {
			return true
		}
	}
	return false
}

// alone reports whether a map has one result and reads no indices.
func (m *mapSpec) alone() bool { return len(m.j.Functions) == 1 && !m.f.Indexed() }

// tiles reports whether a map goes over tiles, where a tensor is strided.
func (m *mapSpec) tiles() bool { return m.outer > 0 && m.strided() && m.alone() && m.value < 0 }

func (m *mapSpec) grid(args []kernels.Arg, l kernels.Target) kernels.Grid {
	n, rows := int(args[m.nAt()].Int), 1
	if m.outer > 0 {
		rows = int(args[m.rowsAt()].Int)
	}
	if l.CPU {
		return kernels.Groups(intmath.CeilDiv(n, mapChunk), intmath.CeilDiv(rows, m.run(n)))
	}
	cols := n
	switch {
	case m.pairs():
		cols = intmath.CeilDiv(n, 2*MapVector)
	case m.l.Aligned:
		cols = intmath.CeilDiv(n, MapVector)
	}
	switch {
	case m.outer == 0:
		return kernels.Grid1D(cols, l)
	case m.gpuTiles():
		return kernels.Grid{Dims: 2, Global: [3]int{intmath.RoundUp(n, gpuTile), intmath.CeilDiv(rows, gpuTile) * gpuTall},
			Local: [3]int{gpuTile, gpuTall}}
	}
	return kernels.Grid2D(cols, rows, l)
}

// moves reports whether the map only moves elements, whatever they are: a mask that becomes a float
// is computed.
func (m *mapSpec) moves() bool {
	return len(m.uses) == 1 && len(m.j.Functions) == 1 && m.f.Is(m.uses[0]) && m.types[0] == m.types[1] && !m.mixed
}

// own reports whether tensor t is of the type that is computed in.
func (m *mapSpec) own(t int) bool { return m.types[t] == m.typ }

// mask reports whether tensor t is of Uint8 because the function says so.
func (m *mapSpec) mask(t int) bool {
	if m.result(t) {
		return m.j.Functions[t-len(m.uses)].Condition()
	}
	return user(m.j, m.uses[t]).Mask(m.uses[t])
}

// half reports whether tensor t is of 16 bits in a map that computes.
func (m *mapSpec) half(t int) bool { return !m.own(t) && m.types[t].Half() }

// stored reports whether tensor t is of a type for storage.
func (m *mapSpec) stored(t int) bool { return m.types[t].Storage() }

// ofStorage reports whether a tensor is of a type for storage, in a map that computes.
func (m *mapSpec) ofStorage() bool { return slices.ContainsFunc(m.types, kernels.DType.Storage) }

// odd reports whether integers that no float32 holds become narrower floats, and nothing else happens to
// them: they are rounded once.
func (m *mapSpec) odd() bool {
	return m.mixed && len(m.uses) == 1 && m.f.Is(m.uses[0]) && m.typ == kernels.Float32 &&
		(m.types[1].Half() || m.stored(1)) &&
		m.types[0].Integer() && m.types[0].Size() >= 4
}

// compute returns the type that the formula is computed in, as OpenCL C names it for width
// elements.
func (m *mapSpec) compute(width int) string { return m.typ.C() + suffix(width) }
