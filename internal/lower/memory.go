package lower

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/ir"
)

// memoryTypes are the types of a program's inputs and results in memory: Float32 stands for the floats that
// are computed in, or for ints. Floats of 16 bits are widened where they are loaded, and rounded to nearest,
// ties to even, where they are stored.
type memoryTypes struct {
	values  []kernels.DType // by value of the program
	results []kernels.DType // by result
}

// memoryTypesOf returns the types of a program whose buffers have some, by argument; those past the last are
// Float32.
func memoryTypesOf(p *ir.Program, types []kernels.DType) memoryTypes {
	at := LayoutOf(p)
	of := func(arg int, half bool) kernels.DType {
		if arg < 0 || arg >= len(types) || !types[arg].Half() {
			return kernels.Float32
		}
		if !half {
			panic(fmt.Sprintf("lower: %s: argument %d is of %v: ints and sums over lines are not", p.Name, arg, types[arg]))
		}
		return types[arg]
	}
	m := memoryTypes{make([]kernels.DType, len(p.Values)), make([]kernels.DType, len(p.Results))}
	for i, v := range p.Values {
		if v.Kind == ir.Input {
			m.values[i] = of(at.Values[i], !v.Int)
		}
	}
	for k, r := range p.Results {
		m.results[k] = of(at.Results+k, !r.Int && !r.Summed)
	}
	return m
}

// half reports whether any is of 16 bits.
func (m memoryTypes) half() bool {
	for _, list := range [][]kernels.DType{m.values, m.results} {
		for _, t := range list {
			if t.Half() {
				return true
			}
		}
	}
	return false
}

// code names the types in a file's name: f32b16 of a float32 and a bfloat16. It is empty if none is of 16 bits.
func (l *plan) code() (code string) {
	if !l.memory.half() {
		return ""
	}
	add := func(t kernels.DType) { code += strings.NewReplacer("bfloat", "b", "float", "f").Replace(t.String()) }
	for i, v := range l.p.Values {
		if v.Kind == ir.Input {
			add(l.memory.values[i])
		}
	}
	for _, t := range l.memory.results {
		add(t)
	}
	return "." + code
}

// inMemory is the type in OpenCL C of elements of type t in memory.
func inMemory(t kernels.DType) string {
	if t.Half() {
		return "ushort"
	}
	return "REAL"
}

// suffix is the end of the names of functions that load or store elements of type t.
func suffix(t kernels.DType) string {
	if t.Half() {
		return "_" + t.String()
	}
	return ""
}

// fromMemory is the function, or macro, that makes floats of elements of type t and toMemory the one that makes elements
// of floats: from_float16 and to_float16. The forms for vectors end in _4 and _16.
func fromMemory(t kernels.DType) string {
	if t.Half() {
		return "from" + suffix(t)
	}
	return "itself"
}

func toMemory(t kernels.DType) string {
	if t.Half() {
		return "to" + suffix(t)
	}
	return "itself"
}

// pointee is the type of the memory of an input.
func (l *plan) pointee(i int) string {
	if l.p.Values[i].Int {
		return "int"
	}
	return inMemory(l.memory.values[i])
}

// resultPointee is the type of the memory of a result.
func (l *plan) resultPointee(k int) string {
	if l.p.Results[k].Int {
		return "INDEX"
	}
	return inMemory(l.memory.results[k])
}

// loaded returns an element of input i, of which text is what lies in memory; of a vector with the width 16.
func (l *plan) loaded(i int, text string, width int) string {
	if t := l.memory.values[i]; t.Half() {
		return fmt.Sprintf("%s(%s)", ofWidth(fromMemory(t), width), text)
	}
	return text
}

// rounded returns what is stored in result k of a float.
func (l *plan) rounded(k int, text string) string {
	if t := l.memory.results[k]; t.Half() {
		return fmt.Sprintf("%s(%s)", toMemory(t), text)
	}
	return text
}

func ofWidth(function string, width int) string {
	if width > 1 {
		return fmt.Sprintf("%s_%d", function, width)
	}
	return function
}
