package kernels

import (
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
)

// Kernel specifies one entry point. A package outside this one makes a Kernel of its own by giving
// Text, and launches it with [tensor.Launch]; it must not be changed afterwards. It makes the
// Kernel once, and not for each launch: an OpenCL device tries each beside its Host.
//
// [tensor.Launch]: https://pkg.go.dev/github.com/clgrad/clgrad/tensor#Launch
type Kernel struct {
	Name string // of the entry point; ours have the prefix k_, which keeps clear of OpenCL's builtins
	// Text is the kernel's OpenCL C 1.2. It may open with an @depends line, as the files do: "//
	// @depends: common" brings REAL, IN and OUT; "// @then: gemm_cpu" puts a file behind it. "":
	// File is one of the embedded files.
	Text string
	File string // the .cl file it is in; with Text, what compilers' messages call it, or "" for its name
	GPU  string // the .cl file for devices that are no CPU; "" if it is File
	// GPUText is the Text for devices that are no CPU, with the name GPU; "" if it is Text.
	GPUText string
	// Defines is compiler options for a kernel that is built for one shape of its data.
	Defines string
	Params  []Param // of the entry point, in its order
	// Grid returns the work-items of a launch: [GridFromArg] or [GridPerElement] of an argument, or
	// what [Grid1D] covers.
	Grid func(args []Arg, l Target) Grid
	Host HostKernel // the same computation in Go, for the cpu device and check mode
	Tol  Tolerance  // the zero Tolerance asks for the host kernel's bits. Integers must be equal whatever it is
	// Semantics returns what a launch computes, as operations that are done one after the other, for
	// programs that rewrite launches. It is asked of launches that have a work-item, after them: a
	// launch waits for no description. It may depend on the sizes and on the ints that say which
	// operations there are, such as a flag, and on nothing that the memory holds; every other
	// number is to be operation.ArgScalar, since it may be one of [StepScalars]. Without it the kernel is opaque,
	// and so is a launch of which it returns no operation: that runs like any other, and nothing is
	// fused with it. Package kerneltest holds descriptions to the host kernel.
	Semantics func(args []Arg) []Op
	// Fusions says how launches of the kernel are fused with others in a recorded step: the Fusions of
	// package internal/fused, or what a registered fusion knows, for kernels of this module. Nil: they
	// are not.
	Fusions any
	// Moves says that elements are moved, whatever they are: see [DType.Moved].
	Moves bool
	// Cases returns the launches that test the kernel, few and small ones if asked for: see
	// [CasesBySize]. Package kerneltest runs them on a device and holds what they compute to the
	// host kernel.
	Cases func(few bool) []Case
	// SelfTest supplies the operands, one for each of Params, of a launch like one with the arguments
	// like, or of a small one if like is nil: an OpenCL device tries the kernel with them, and with
	// its few Cases, before its first launch. The host kernel runs on them, too: they must be those of a
	// launch that there could be. Nil is no trial. See selftest.OperandsLike. A kernel with Text that has
	// neither SelfTest nor Cases is not tried.
	SelfTest func(like []Arg) []Operand
	// Variants returns kernels that take the same arguments to the same results on a device with
	// floats of type t and the limits l: they take the place of one whose trial fails. Nil: the form
	// for other devices may (GPU).
	Variants func(t DType, l Target) []*Kernel

	typed [dtypes]*Kernel // see Of
}

// Takes reports whether a buffer of elements of type t is what parameter i takes, where the floats of
// a launch have a type: integers are those of their size, with a sign or without.
func (k *Kernel) Takes(i int, t, float DType) bool {
	want := k.Params[i].Mode.Elements(float)
	return t == want || t.Moved() == want.Moved() && (k.Moves || t.Integer() && want.Integer())
}

// Source returns the name of the file that the kernel is built from on a device.
func (k *Kernel) Source(l Target) string {
	switch {
	case k.GPU != "" && !l.CPU:
		return k.GPU
	case k.File == "":
		return k.Name + ".cl"
	}
	return k.File
}

// Mode says what a parameter is and, for a buffer, what the kernel does with it.
type Mode uint8

// The modes. Buffers are followed in the entry point by the int offset of their first element. Those
// of other types than floats are made by [Mode.Of].
const (
	In         Mode = iota // floats, read
	Out                    // floats, all written
	InOut                  // floats, read and written
	InInts                 // int32, read
	OutInts                // int32, all written
	InOutInts              // int32, read and written
	InBytes                // uint8, read
	OutBytes               // uint8, all written
	InOutBytes             // uint8, read and written

	// float32 where floats are float64, read and written
	InFloats  Mode = 3 * dtypes
	OutFloats Mode = InFloats + 1

	IntParam   Mode = InFloats + 3 // an int by value
	LongParam  Mode = InFloats + 4 // a long by value
	FloatParam Mode = InFloats + 5 // a float by value
)

// modeTypes are the types of the elements of modes, which come in threes.
var modeTypes = [...]DType{Float32, Int32, Uint8, Float16, BFloat16, Int8, Int16, Int64, Uint16, Uint32, Uint64}

// Of returns the mode of a buffer of elements of type t that is used as one of floats is with m: as
// In.Of(Int64).
func (m Mode) Of(t DType) Mode {
	if t = t.Stored(); t == Float64 {
		return m
	}
	return m + 3*Mode(slices.Index(modeTypes[:], t))
}

// Declared returns a parameter of the mode in OpenCL C.
func (m Mode) Declared(name string) string {
	way := "IN"
	if m.Written() {
		way = "OUT"
	}
	switch typ := m.ElementType("REAL"); {
	case m == IntParam:
		return "int " + name
	case m == LongParam:
		return "long " + name
	case m == FloatParam:
		return "REAL " + name
	case m < InInts:
		return way + "(" + name + ")"
	default:
		return way + "_OF(" + typ + ", " + name + ")"
	}
}

// ElementType returns the type of the elements of a buffer in OpenCL C, where floats have a name.
func (m Mode) ElementType(floats string) string {
	switch {
	case m < InInts:
		return floats
	case m >= InFloats:
		return "float"
	}
	return dtypeTable[modeTypes[m/3]].c
}

// Access returns In, Out or InOut: what a kernel does with a buffer of the mode.
func (m Mode) Access() Mode { return m % 3 }

// Buffer reports whether the parameter is memory.
func (m Mode) Buffer() bool { return m < IntParam }

// Written reports whether the kernel writes the parameter.
func (m Mode) Written() bool { return m.Buffer() && m.Access() != In }

// Read reports whether the kernel reads the parameter, as memory.
func (m Mode) Read() bool { return m.Buffer() && m.Access() != Out }

// Param is one parameter of a kernel: its Name in the entry point, for errors, and its Mode.
type Param struct {
	Name string
	Mode Mode
}

// Arg is one argument, of some Kind: N elements of Buf from Off, or a number, Int or Float.
// [BufferArg], [IntArg], [FlagArg], [BitsArg] and [FloatArg] make one. A number that changes from
// step to step is one of [StepScalars].
type Arg struct {
	Kind    ArgKind
	place   uint8 // the place among step scalars
	Int     int64
	Buf     Buffer
	Off, N  int
	Float   float64
	scalars *StepScalars // nil: the number is none of them. Else Off is the step that the number is of
}

// ArgKind says which fields of an Arg hold the argument.
type ArgKind uint8

// The kinds of argument. The zero Arg is none.
const (
	ArgNone ArgKind = iota
	ArgBuffer
	ArgInt
	ArgFloat
)

// String names the kind in errors.
func (k ArgKind) String() string { return [...]string{"nothing", "memory", "an int", "a float"}[k] }

// Kind returns the kind of argument that the parameter takes.
func (m Mode) Kind() ArgKind {
	switch m {
	case IntParam, LongParam:
		return ArgInt
	case FloatParam:
		return ArgFloat
	}
	return ArgBuffer
}

// Elements returns the element type of a parameter that is memory, on a device with floats of type
// float.
func (m Mode) Elements(float DType) DType {
	switch of := m / 3; {
	case of == 0:
		return float
	case m >= InFloats:
		return Float32
	default:
		return modeTypes[of]
	}
}

// FloatOf returns the type of the floats of a launch: that of its first buffer of floats. If there is
// none it is def, or float32 where the kernel computes in it alone, as one of 16 bits does.
func (k *Kernel) FloatOf(args []Arg, def DType) DType {
	for i := range args {
		if k.Params[i].Mode > InOut || args[i].Buf == nil {
			continue
		}
		if t := args[i].Buf.DType(); t == Float32 || t == Float64 {
			return t
		}
	}
	if k.Host.F32 != nil && k.Host.F64 == nil {
		return Float32
	}
	return def
}

// BufferArg passes n elements of b from off.
func BufferArg(b Buffer, off, n int) Arg { return Arg{Kind: ArgBuffer, Buf: b, Off: off, N: n} }

// IntArg passes an int. Values outside int32 are a bug in the caller.
func IntArg(v int) Arg {
	if int(int32(v)) != v {
		panic("kernels: I: value does not fit an OpenCL int")
	}
	return Arg{Kind: ArgInt, Int: int64(v)}
}

// LongArg passes a long.
func LongArg(v int64) Arg { return Arg{Kind: ArgInt, Int: v} }

// BitsArg passes 32 bits as an int.
func BitsArg(v uint32) Arg { return Arg{Kind: ArgInt, Int: int64(int32(v))} }

// FlagArg passes a condition as 0 or 1.
func FlagArg(on bool) Arg {
	if on {
		return IntArg(1)
	}
	return IntArg(0)
}

// FloatArg passes a float.
func FloatArg(v float64) Arg { return Arg{Kind: ArgFloat, Float: v} }

// Target is what a launch must know of its device.
type Target struct {
	CPU      bool // work-items of a group run one after another on one core
	Units    int  // compute units
	MaxGroup int  // work-items in a group
	LocalMem int  // bytes of local memory that a group may take

	IntegerDot bool // OpenCL's products of four integers of 8 bits at a time: cl_khr_integer_dot_product
}

// Grid is the shape of a launch: the work-items, Global, and those in one work-group, Local, for
// each of Dims dimensions.
type Grid struct {
	Dims          int
	Global, Local [3]int
}

// Empty reports whether the grid has no work-item; such a launch is skipped.
func (g Grid) Empty() bool {
	for d := range g.Dims {
		if g.Global[d] == 0 {
			return true
		}
	}
	return false
}

// Groups returns how many work-groups there are along each dimension: 1 along those that the grid
// does not have.
func (g Grid) Groups() [3]int {
	n := [3]int{1, 1, 1}
	for d := range g.Dims {
		n[d] = intmath.CeilDiv(g.Global[d], max(1, g.Local[d]))
	}
	return n
}

// Items returns how many work-items a work-group has.
func (g Grid) Items() int {
	n := 1
	for d := range g.Dims {
		n *= g.Local[d]
	}
	return n
}

// Group is the size of a one-dimensional work-group. On PoCL with two cores, groups of 64, 256,
// 1024 and 4096 made a training step of 940, 900, 970 and 980 µs: small groups pay for their start,
// large ones leave a core idle.
func (l Target) Group() int { return groupOf(l.MaxGroup) }

func groupOf(most int) int { return min(256, most) }

// Grid1D covers n elements with one work-item each, in one dimension. It rounds up to whole
// work-groups: an entry point leaves out those past n.
func Grid1D(n int, l Target) (grid Grid) {
	grid.cover(n, l.MaxGroup)
	return grid
}

// cover makes g, which is zero, that of [Grid1D] for groups of at most so many work-items. It copies neither Target nor
// Grid: each copy is a tenth of the smallest launch on the Go device.
func (g *Grid) cover(n, most int) {
	group := groupOf(most)
	g.Dims, g.Global[0], g.Local[0] = 1, intmath.RoundUp(n, group), group
}

// Grid2D covers cols×rows work-items, with work-groups as wide as the columns allow.
func Grid2D(cols, rows int, l Target) Grid {
	g := l.Group()
	wide := 1
	for wide < cols && wide < g {
		wide *= 2
	}
	tall := 1
	for tall < rows && tall*wide < g {
		tall *= 2
	}
	return Grid{Dims: 2, Global: [3]int{intmath.RoundUp(cols, wide), intmath.RoundUp(rows, tall)}, Local: [3]int{wide, tall}}
}

// Groups covers x×y work-groups of one work-item.
func Groups(x, y int) Grid {
	return Grid{Dims: 2, Global: [3]int{x, y}, Local: [3]int{1, 1}}
}

// GridPerElement launches one work-item per element of argument arg.
func GridPerElement(arg int) func([]Arg, Target) Grid {
	return func(args []Arg, l Target) (grid Grid) {
		grid.cover(args[arg].N, l.MaxGroup)
		return grid
	}
}

// GridFromArg launches one work-item per unit of the int argument arg.
func GridFromArg(arg int) func([]Arg, Target) Grid {
	return func(args []Arg, l Target) (grid Grid) {
		grid.cover(int(args[arg].Int), l.MaxGroup)
		return grid
	}
}
