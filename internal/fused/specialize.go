package fused

import (
	"fmt"
	"github.com/clgrad/clgrad/kernels"
	"regexp"
	"strings"
)

// Specialized is a form of a kernel for launches that are always the same, with the constant arguments
// in its text. A driver looks at each argument of each launch: NVIDIA's takes 3.3
// µs to start a kernel of one buffer, 0.2 more for each other buffer and 0.05 for each number.
type Specialized struct {
	Kernel *kernels.Kernel // Kernel is built in place of the one for any launch
	Args   []int           // Args are the arguments that it takes: of memory, without the offset
}

// Specialize returns the form of k for launches with the arguments args on a device; nil if there is
// none. It serves what [Batch], [FuseHorizontal] and [FuseVertical] make, whose arguments are many.
// Numbers that are step scalars stay arguments. Of arguments that name the same memory, by same, the first
// stays.
func Specialize(k *kernels.Kernel, args []kernels.Arg, l kernels.Target,
	same func(a, b kernels.Buffer) bool) *Specialized {
	text := k.TextOn(l)
	declared := make([]string, len(k.Params))
	for i, p := range k.Params {
		if !numbered.MatchString(p.Name) && Of(k).Kernels == nil {
			return nil
		}
		declared[i] = p.Mode.Declared(p.Name)
	}
	all := "(" + strings.Join(declared, ", ") + ")"
	if len(k.Params) == 0 || strings.Count(text, all) != 1 {
		if all = "OWN_PARAMS " + all[1:len(all)-1] + "\n"; strings.Count(text, all) != 1 {
			return nil
		}
	}
	at := strings.Index(text, all)
	before := max(strings.LastIndex(text[:at], "\nkernel "), strings.LastIndex(text[:at], "\n#define OWN_PARAMS")) + 1
	if before == 0 {
		return nil
	}
	f := &Specialized{}
	var params []string
	var defines strings.Builder
	define := func(name, as string, a ...any) {
		fmt.Fprintf(&defines, "#define %s "+as+"\n", append([]any{name}, a...)...)
	}
	first := map[int]int{} // of the memory of each argument, the first that names it
	for i := range args {
		if args[i].Kind != kernels.ArgBuffer {
			continue
		}
		for j := range i + 1 {
			if args[j].Kind == kernels.ArgBuffer && same(args[j].Buf, args[i].Buf) {
				first[i] = j
				break
			}
		}
	}
	for i, p := range k.Params {
		a := &args[i]
		numbers, _, _ := a.StepScalar()
		switch {
		case p.Mode.Buffer() && first[i] == i:
			params = append(params, "global "+p.Mode.ElementType("ELEM")+" *"+p.Name)
			f.Args = append(f.Args, i)
		case p.Mode.Buffer():
			constant := "const "
			if p.Mode.Written() {
				constant = ""
			}
			define(p.Name, "((global %s%s *)%s)", constant, p.Mode.ElementType("ELEM"), k.Params[first[i]].Name)
		case p.Mode == kernels.IntParam && numbers == nil && numbered.MatchString(p.Name):
			define(p.Name, "(%d)", a.Int)
		default:
			params = append(params, declared[i])
			f.Args = append(f.Args, i)
		}
		if p.Mode.Buffer() {
			define(p.Name+"_off", "%d", a.Off)
		}
	}
	list := strings.Join(params, ", ")
	if strings.HasPrefix(all, "(") {
		list = "(" + list + ")"
	} else {
		list = "OWN_PARAMS " + list + "\n"
	}
	text = text[:before] + defines.String() + strings.Replace(text[before:], all, list, 1)
	f.Kernel = &kernels.Kernel{Name: k.Name, File: k.Source(l), Defines: k.Defines, Text: text}
	return f
}

// numbered matches the parameters of one of several launches: their names mean nothing else in the
// text.
var numbered = regexp.MustCompile(`_[0-9]+$`)
