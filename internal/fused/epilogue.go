package fused

import (
	"fmt"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
	"math"
	"slices"
	"strings"
)

// EpilogueSpec says how a kernel stores a result, so that a map of the result can be computed in the
// same launch: see [FuseEpilogue]. The kernel's files do so by the macros of epilogue.cl.
type EpilogueSpec struct {
	// Result is the parameter, of floats. The launch reads or writes it in no other way, unless it
	// Reads it.
	Result int
	// Elements returns how many elements a launch stores to it, each once and from the first on
	// without gaps, in rows of so many of which each begins a vector; 0 if that launch stores
	// otherwise.
	Elements func(args []kernels.Arg) (n, row int)
	// Reads reports whether a launch reads each element before it stores it. Nil: never.
	Reads func(args []kernels.Arg) bool
	// Before reports whether a launch on such a device stores other values before those that count,
	// or no neighbours at a time. Nil: never.
	Before func(args []kernels.Arg, l kernels.Target) bool
	// CPU and GPU are how many elements the files store at a time, at the most; 0: they do not use
	// the macros. On CPUs that is MapVectorCPU, or 1.
	CPU, GPU int
	// Define is a line that the files have to have before them, such as the one entry point to
	// build.
	Define string
}

// Wide returns how many elements are stored at a time on a device, at the most; 0 if no map can be
// computed there.
func (s *EpilogueSpec) Wide(l kernels.Target) int {
	if l.CPU {
		return s.CPU
	}
	return s.GPU
}

// reads reports whether a launch reads its result.
func (s *EpilogueSpec) reads(args []kernels.Arg) bool { return s.Reads != nil && s.Reads(args) }

// Epilogue is a map of what a kernel stores, such as relu(x + bias) of a product. Operand Value of the
// functions is the kernel's result, row-major in the dimensions of the map.
type Epilogue struct {
	Of     *kernels.FusedElementwise // the functions
	Value  int                       // the operand
	Layout AccessPattern             // of all operands that occur, and the results
	Keep   bool                      // the kernel stores its result, too
	// Vectors says that each element is computed in a vector, if need be alone: functions of a
	// driver may be others there.
	Vectors bool
}

type epilogueKey struct {
	k        *kernels.Kernel
	epilogue Epilogue
}

// FuseEpilogue returns the kernel that computes what k does and a map of floats of its result, with the
// bits of two launches. Its arguments are those of k and then those of Map, but for the value and
// its strides. Unless it is kept, the result is not written; where k does not read it, any memory
// without elements may stand for it.
func FuseEpilogue(k *kernels.Kernel, e Epilogue) *kernels.Kernel {
	c := cacheOf(e.Of)
	key := epilogueKey{k, e}
	c.mu.Lock()
	defer c.mu.Unlock()
	made := c.epilogues[key]
	if made == nil {
		made = newEpilogue(k, e)
		c.epilogues[key] = made
	}
	return made
}

// epilogueBuilder makes a kernel with an epilogue.
type epilogueBuilder struct {
	base *kernels.Kernel
	Epilogue
	m     *mapSpec        // the map as a launch of its own, of which the value is one of the tensors
	at    int             // which of them
	apply *kernels.Kernel // of that launch, for the host kernel
}

func newEpilogue(k *kernels.Kernel, e Epilogue) *kernels.Kernel {
	s := &epilogueBuilder{base: k, Epilogue: e, m: newMapSpec(e.Of, kernels.Float32, e.Layout)}
	s.at = slices.Index(s.m.uses, e.Value)
	s.apply = newMap(e.Of, kernels.Float32, e.Layout)
	made := &kernels.Kernel{Name: k.Name, Defines: k.Defines, Params: s.params(),
		Semantics: s.semantics(),
		Grid:      func(args []kernels.Arg, l kernels.Target) kernels.Grid { return k.Grid(s.baseArgs(args), l) },
		Host:      kernels.HostKernel{F32: epilogueHost[float32](s), F64: epilogueHost[float64](s)}.Calling(k),
		Cases:     s.cases, SelfTest: s.selfTest, Tol: s.tolerance()}
	name := "." + strings.TrimSuffix(strings.TrimPrefix(s.m.file(true), "k_"), ".cl")
	if s.Keep {
		name += ".kept"
	}
	if s.Vectors {
		name += ".vectors"
	}
	of := func(l kernels.Target) string { return strings.TrimSuffix(k.Source(l), ".cl") }
	cpu, gpu := kernels.Target{CPU: true}, kernels.Target{}
	made.File, made.GPU = of(cpu)+name+".cl", of(gpu)+name+".gpu.cl"
	made.Text, made.GPUText = s.text(cpu), s.text(gpu)
	if k.Variants != nil {
		made.Variants = func(typ kernels.DType, l kernels.Target) []*kernels.Kernel {
			var others []*kernels.Kernel
			for _, v := range k.Variants(typ, l) {
				if Of(v).Epilogue != nil && Of(v).Epilogue.Wide(l) > 0 {
					others = append(others, FuseEpilogue(v, e))
				}
			}
			return others
		}
	}
	return made
}

// params are those of the kernel and of the map.
func (s *epilogueBuilder) params() []kernels.Param {
	ps := slices.Clone(s.base.Params)
	if !s.Keep { // it is not written
		result := &ps[Of(s.base).Epilogue.Result].Mode
		*result -= result.Access()
	}
	for _, p := range s.mapParams() {
		ps = append(ps, kernels.Param{Name: "T_" + p.Name, Mode: p.Mode})
	}
	return ps
}

// mapParams are those of the map but for the value.
func (s *epilogueBuilder) mapParams() []kernels.Param {
	var ps []kernels.Param
	for i, p := range s.m.params() {
		if first := s.m.stridesAt(s.at); i != s.at && (i < first || i >= first+s.m.outer) {
			ps = append(ps, p)
		}
	}
	return ps
}

// mapArgs returns the arguments of the map, where the value is memory of its own.
func (s *epilogueBuilder) mapArgs(args []kernels.Arg, value kernels.Arg) []kernels.Arg {
	list := slices.Insert(slices.Clone(args[len(s.base.Params):]), s.at, value)
	var dims []int // but the first
	for d := 1; d < s.m.outer; d++ {
		dims = append(dims, int(list[s.m.dimsAt()+d-1].Int))
	}
	if s.m.outer > 0 {
		dims = append(dims, int(list[s.m.nAt()].Int))
	}
	var strides []kernels.Arg
	for d := range dims {
		step := 1
		for _, n := range dims[d:] {
			step *= n
		}
		strides = append(strides, kernels.IntArg(step))
	}
	return slices.Insert(list, s.m.stridesAt(s.at), strides...)
}

// valueType returns the type of the value in memory, where the floats of a launch have a type.
func (s *epilogueBuilder) valueType(float kernels.DType) kernels.DType {
	return s.base.Params[Of(s.base).Epilogue.Result].Mode.Elements(float)
}

// elements is how many elements the map has.
func (s *epilogueBuilder) elements(args []kernels.Arg) int {
	at := len(s.base.Params) + s.m.nAt() - 1
	n := int(args[at].Int)
	if s.m.outer > 0 {
		n *= int(args[at+1].Int)
	}
	return n
}

// baseArgs returns the arguments of the kernel, where the result has its elements.
func (s *epilogueBuilder) baseArgs(args []kernels.Arg) []kernels.Arg {
	list := slices.Clone(args[:len(s.base.Params)])
	list[Of(s.base).Epilogue.Result].N = s.elements(args)
	return list
}

// text returns the OpenCL C for a kind of device: the map, the macros that compute it, and the
// kernel's own text or file.
func (s *epilogueBuilder) text(l kernels.Target) string {
	depends := append([]string{"common", "memory"}, s.m.program.Depends()...)
	if s.m.mixed {
		depends = append(depends, "convert")
	}
	header, own := textAround(s.base, "epilogue", l, depends...)
	var b strings.Builder
	b.WriteString(header)
	p := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	p("// %s of what %s stores: see internal/fused/epilogue.go.", s.m.j.Name, s.base.Name)
	if Of(s.base).Epilogue.Define != "" {
		p("#define %s", Of(s.base).Epilogue.Define)
	}
	s.macros(p, l)
	b.WriteString(own)
	return b.String()
}

// macros writes the formulas and the macros of epilogue.cl. Products and sums of the formulas are
// not contracted to fma, by a pragma within their functions: the kernel behind them is compiled as
// it is without them.
func (s *epilogueBuilder) macros(p func(string, ...any), l kernels.Target) {
	m := *s.m
	m.value = s.at
	wide := Of(s.base).Epilogue.Wide(l)
	p("%s", preludeHere)
	width := 1 // of vectors
	switch {
	case l.CPU:
		width = wide
	case wide == MapVector && m.l.Aligned:
		width = MapVector
	}
	formula := func(width int) {
		p("%s", strings.Replace(m.function(width), "{\n", "{\n"+contractOff+"\n", 1))
	}
	if !s.Vectors {
		formula(1)
	} else if width == 1 {
		formula(vectorsOf(l))
	}
	if width > 1 {
		formula(width)
	}
	if s.Vectors {
		s.lane(p, &m, vectorsOf(l))
	}
	params := s.mapParams()
	list := func(form func(p kernels.Param) []string) string {
		var all []string
		for _, param := range params {
			all = append(all, form(param)...)
		}
		return strings.Join(all, ", ")
	}
	declared := func(prefix string) string {
		return list(func(p kernels.Param) []string { return []string{paramDeclared(p, prefix)} })
	}
	passed := func(prefix string) string {
		return list(func(p kernels.Param) []string {
			if p.Mode.Buffer() {
				return []string{prefix + p.Name, prefix + p.Name + "_off"}
			}
			return []string{prefix + p.Name}
		})
	}
	at := func(indent, constant, at string) { // the row and the column of an element
		if m.outer == 0 {
			p("%s%sint c = %s;", indent, constant, at)
		} else {
			p("%s%sint c = %s %% n, r = %s / n;", indent, constant, at, at)
		}
	}
	rows := func(indent string) { // where they begin
		m.starts(p, indent, "const int at%d")
		m.pointers(p, indent, "at%d")
	}
	if l.CPU && wide > 1 {
		p("static void then_row(REAL%d row, int at, int count, %s) {", wide, declared(""))
		p("    row = Y_FROM%d(Y_TO%d(row));", wide, wide)
		at("    ", "", "at")
		p("    if (count == %d && c + %d <= n) {\n        const REAL%d v = row;", wide, wide, wide)
		rows("        ")
		p("        %s\n        return;\n    }", m.apply(wide, true))
		p("    REAL part[%d];\n    vstore%d(row, 0, part);\n    for (int j = 0; j < count; j++) {", wide, wide)
		rows("        ")
		p("        const REAL v = part[j];\n        %s\n        c++;", m.apply(1, true))
		if m.outer > 0 {
			p("        if (c == n) {\n            c = 0;\n            r++;\n        }")
		}
		p("    }\n}")
		fields := ""
		for _, param := range params {
			fields += " " + paramField(param, "T_") + ";"
		}
		p("#define PUT_FIELDS%s", fields)
		p("#define PUT_ROW(e, v, at, count) then_row(v, at, count, %s)", passed("e T_"))
	} else {
		p("static void then1(REAL v, int at, %s) {", declared(""))
		at("    ", "const ", "at")
		rows("    ")
		p("    %s\n}", m.apply(1, l.CPU))
		if width > 1 {
			p("static void then%d(REAL%d v, int at, %s) {", width, width, declared(""))
			at("    ", "const ", "at")
			rows("    ")
			p("    %s\n}", m.apply(width, l.CPU))
		}
		p("#define PUT_FIELDS")
	}
	kept := func(text string) string {
		if s.Keep {
			return text
		}
		return ""
	}
	put := func(n int, body string) {
		w := suffix(n)
		store := fmt.Sprintf("*(global Y_MEMORY%s *)((p) + put_at) = put_y; ", w)
		p("#define PUT%s(p, at, v) { const Y_MEMORY%s put_y = Y_TO%s(v); const REAL%s put_v = Y_FROM%s(put_y); const int put_at = at; %s%s }",
			w, w, w, w, w, kept(store), body)
	}
	call := func(width int, v, at string) string {
		return fmt.Sprintf("then%d(%s, %s, %s);", width, v, at, passed("T_"))
	}
	each := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, call(1, fmt.Sprintf("put_v.s%d", i), fmt.Sprintf("put_at + %d", i)))
		}
		return strings.Join(all, " ")
	}
	if l.CPU && wide > 1 {
		p("#define PUT(p, at, v)") // it says that there is a text
	} else {
		put(1, call(1, "put_v", "put_at"))
		put(2, each(2))
		if width == MapVector && !l.CPU {
			put(4, call(4, "put_v", "put_at"))
		} else {
			put(4, each(4))
		}
	}
	if s.Keep {
		p("#define PUT_KEEP")
	}
	p("#define PUT_PARAMS , %s\n#define PUT_ARGS , %s\n#define PUT_VALUES , %s", declared("T_"), passed("T_"), passed("T_"))
}

// vectorsOf is the width of the vectors that maps compute on a kind of device.
func vectorsOf(l kernels.Target) int {
	if l.CPU {
		return MapVectorCPU
	}
	return MapVector
}

// lane writes the formula of an element that is computed in a vector.
func (s *epilogueBuilder) lane(p func(string, ...any), m *mapSpec, width int) {
	var declared, passed []string
	add := func(typ, name string, vector bool) {
		declared = append(declared, typ+" "+name)
		if vector {
			name = fmt.Sprintf("(REAL%d)(%s)", width, name)
		}
		passed = append(passed, name)
	}
	for t := range m.uses {
		add("REAL", fmt.Sprint("x", t), true)
	}
	for _, i := range m.scalars {
		add("REAL", fmt.Sprint("s", i), false)
	}
	if n := len(m.j.Functions); n > 1 {
		vectors, stores := "", ""
		for y := range n {
			declared = append(declared, fmt.Sprintf("REAL *y%d", y))
			passed = append(passed, fmt.Sprintf("&v%d", y))
			vectors += fmt.Sprintf("REAL%d v%d; ", width, y)
			stores += fmt.Sprintf(" *y%d = v%d.s0;", y, y)
		}
		p("static void %s(%s) { %s%s(%s);%s }", m.formula(1), strings.Join(declared, ", "), vectors, m.formula(width), strings.Join(passed, ", "), stores)
		return
	}
	p("static REAL %s(%s) { return %s(%s).s0; }", m.formula(1), strings.Join(declared, ", "), m.formula(width), strings.Join(passed, ", "))
}

// A formula rounds at each primitive, wherever it stands.
const (
	contractOff = "#pragma OPENCL FP_CONTRACT OFF"
	preludeHere = `#ifndef NUM
#ifdef REAL_IS_DOUBLE
#define NUM(x) x
#else
#define NUM(x) x##f
#endif
#define CONVERT(T, x) CONVERT_TO(T, x)
#define CONVERT_TO(T, x) convert_##T(x)
#endif`
)

// declared returns the parameter in OpenCL C, with a prefix before its name.
func paramDeclared(p kernels.Param, prefix string) string { return p.Mode.Declared(prefix + p.Name) }

// field returns it as a field of a struct, or two.
func paramField(p kernels.Param, prefix string) string {
	name := prefix + p.Name
	if !p.Mode.Buffer() {
		return paramDeclared(p, prefix)
	}
	constant := "const "
	if p.Mode.Written() {
		constant = ""
	}
	return fmt.Sprintf("global %s%s *%s; int %s_off", constant, p.Mode.ElementType("REAL"), name, name)
}

// tolerance is that of the kernel, and what the map makes of it.
func (s *epilogueBuilder) tolerance() kernels.Tolerance {
	if base := &s.base.Tol; base.ULP == 0 && base.Rel == 0 && base.Scale == nil && base.Bound == nil &&
		s.m.program.Exact() {
		return kernels.Tolerance{}
	}
	return kernels.Tolerance{ULP: max(1, s.base.Tol.ULP), Bound: s.bound}
}

func (s *epilogueBuilder) bound(float kernels.DType, args []kernels.Arg) func(param, i int) float64 {
	at, tol := Of(s.base).Epilogue.Result, &s.base.Tol
	n := s.elements(args)
	value := kernels.BufferArg(kernels.NewHostBuffer(s.valueType(float), n), 0, n)
	base := s.baseArgs(args)
	if Of(s.base).Epilogue.reads(base) {
		kernels.CopyHostBuffer(value.Buf.(*kernels.HostBuffer), 0, args[at].Buf.(*kernels.HostBuffer), args[at].Off, n)
	}
	base[at] = value
	eps, _ := s.valueType(float).Epsilon()
	var off func(param, i int) float64
	if tol.Bound != nil {
		off = tol.Bound(float, base)
	}
	ofMap := s.m.boundOf(float, s.mapArgs(args, value), s.at, func(i int) float64 { return off(at, i) })
	ran := false
	return func(param, i int) float64 {
		if !ran {
			ran = true
			if off == nil {
				scale := 0.0
				if tol.Scale != nil {
					scale = tol.Scale(base)
				}
				s.base.Run(float, base)
				if tol.Scale == nil {
					scale = kernels.MaxAbs(base, at)
				}
				off = func(param, i int) float64 {
					by := tol.Rel * eps * scale
					if param == at {
						by += float64(tol.ULP) * eps * math.Abs(value.At(i))
					}
					return by
				}
			} else {
				s.base.Run(float, base)
			}
		}
		if param < len(s.base.Params) {
			return off(param, i)
		}
		t := param - len(s.base.Params)
		if t >= s.at {
			t++
		}
		return ofMap(t, i)
	}
}

// dims returns the dimensions of a map of n elements in rows, nil if it has none of that rank.
func (s *epilogueBuilder) dims(n, row int) []int {
	switch s.m.outer {
	case 0:
		return []int{n}
	case 1:
		return []int{n / row, row}
	}
	dims := make([]int, s.m.outer+1)
	for i := range dims {
		dims[i] = 1
	}
	dims[0], dims[s.m.outer] = n/row, row
	return dims
}

// cases are the launches that test the kernel, each with a map of its result.
func (s *epilogueBuilder) cases(few bool) []kernels.Case {
	if s.base.Cases == nil {
		return nil
	}
	var cases []kernels.Case
	at := Of(s.base).Epilogue.Result
	for _, c := range s.base.Cases(few) {
		probe := kernels.NewOperands(kernels.Float32, 1, 1)
		c.Build(probe)
		n, row := Of(s.base).Epilogue.Elements(probe.Args)
		if before := Of(s.base).Epilogue.Before; !s.Keep && before != nil &&
			before(probe.Args, kernels.Target{CPU: true, LocalMem: 1}) {
			continue // they are kept
		}
		if n == 0 || probe.Args[at].N != n || s.m.l.Aligned && (n%MapVector != 0 || row%MapVector != 0) {
			continue
		}
		cases = append(cases, kernels.Case{Name: c.Name, Build: func(o *kernels.Operands) {
			c.Build(o)
			if a := &o.Args[at]; !s.Keep && !Of(s.base).Epilogue.reads(o.Args) {
				a.N = 0
			}
			all := kernels.NewOperands(o.FloatType(), 0, 0)
			all.Rand = o.Rand
			s.m.operands(all, s.dims(n, row))
			first := s.m.stridesAt(s.at)
			for i, a := range all.Args {
				if i != s.at && (i < first || i >= first+s.m.outer) {
					o.Args = append(o.Args, a)
				}
			}
		}})
	}
	return cases
}

// trial makes the operands of a launch like one, with a map of as many elements as the kernel's own
// trial has.
func (s *epilogueBuilder) selfTest(like []kernels.Arg) []kernels.Operand {
	if like == nil {
		return nil
	}
	at := Of(s.base).Epilogue.Result
	own := s.baseArgs(like)
	var ops []kernels.Operand
	if s.base.SelfTest != nil {
		ops = s.base.SelfTest(own)
	} else {
		ops = selftest.OperandsLike(s.base.Params, own)
	}
	if ops == nil {
		return nil
	}
	small := sized(s.base.Params, own, ops)
	n, _ := Of(s.base).Epilogue.Elements(small)
	dims := s.likeDims(like, n)
	if dims == nil {
		return nil
	}
	if !s.Keep && !Of(s.base).Epilogue.reads(small) {
		ops[at] = selftest.Output(0)
	}
	args := s.mapArgs(like, own[at])
	for i, p := range s.m.params() {
		first := s.m.stridesAt(s.at)
		switch {
		case i == s.at || i >= first && i < first+s.m.outer:
		case i < s.m.tensors():
			size := s.m.reach(args, i, dims)
			if size > selftest.Elements {
				return nil
			}
			op := selftest.Output(size)
			if !s.m.result(i) {
				d := user(s.m.j, s.m.uses[i]).Domain(s.m.uses[i])
				if s.m.mask(i) {
					d = [2]float64{0, 3}
				}
				op = selftest.Uniform(size, d[0], d[1])
			} else if s.m.l.Gaps {
				op = selftest.Uniform(size, -1, 1)
			}
			ops = append(ops, op)
		case i == s.m.nAt():
			ops = append(ops, selftest.Number(float64(dims[s.m.outer])))
		case s.m.outer > 0 && i == s.m.rowsAt():
			ops = append(ops, selftest.Number(float64(n/dims[s.m.outer])))
		case p.Mode == kernels.FloatParam:
			ops = append(ops, selftest.Number(args[i].Float))
		default:
			ops = append(ops, selftest.Number(float64(args[i].Int)))
		}
	}
	return ops
}

// sized returns the arguments of a launch like one with args, whose memory and numbers are as large
// as the operands of a trial.
func sized(params []kernels.Param, args []kernels.Arg, ops []kernels.Operand) []kernels.Arg {
	list := make([]kernels.Arg, len(params))
	for i, p := range params {
		switch p.Mode.Kind() {
		case kernels.ArgInt:
			list[i] = kernels.LongArg(int64(ops[i].Number))
		case kernels.ArgFloat:
			list[i] = kernels.FloatArg(ops[i].Number)
		default:
			list[i] = kernels.BufferArg(args[i].Buf, 0, ops[i].N)
		}
	}
	return list
}

// likeDims returns the dimensions of a launch's map with n elements in all: as many of the first as
// there are. Nil: n is no multiple of the others.
func (s *epilogueBuilder) likeDims(like []kernels.Arg, n int) []int {
	nAt := len(s.base.Params) + s.m.nAt() - 1
	dims := make([]int, s.m.outer+1)
	dims[s.m.outer] = int(like[nAt].Int)
	if s.m.outer == 0 {
		dims[0] = n
		return dims
	}
	inner := dims[s.m.outer]
	for d := 1; d < s.m.outer; d++ {
		dims[d] = int(like[nAt+1+d].Int)
		inner *= dims[d]
	}
	if inner == 0 || n%inner != 0 {
		return nil
	}
	dims[0] = n / inner
	return dims
}

// reach returns how many elements tensor t has from its first to its last.
func (m *mapSpec) reach(args []kernels.Arg, t int, dims []int) int {
	at, n := m.stridesAt(t), 1
	for d, size := range dims {
		if size == 0 {
			return 0
		}
		step := 0
		switch {
		case d < m.outer:
			step = int(args[at+d].Int)
		case m.l.Steps[t] == Contiguous:
			step = 1
		case m.l.Steps[t] == Strided:
			step = int(args[at+d].Int)
		}
		n += (size - 1) * step
	}
	return n
}
