package fused

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/cl"
)

// horizontals holds the kernels of [FuseHorizontal].
var horizontals struct {
	sync.Mutex
	of map[horizontalKey]*kernels.Kernel
}

type horizontalKey struct {
	former, latter *kernels.Kernel
	wide           [2]int
}

// FuseHorizontal returns the kernel of one launch of each of two kernels, each with work-groups of its
// own, by their [BatchSpec]; nil if there is none, as for two that use local memory: PoCL 3.1 writes
// past the results of a kernel that has barriers in both branches of a condition. It is for devices
// that are no CPU. The arguments are those of the former and those of the latter, whose
// work-groups have wide work-items along their first dimension, as many in all as the other's, and
// lie in one row. Neither may read or write what the other writes: then each computes the bits of a
// launch of its own. The former is the one of fewer work-groups.
func FuseHorizontal(former, latter *kernels.Kernel, wide [2]int) *kernels.Kernel {
	options, ok := horizontalOptions(former, latter)
	if !ok || Of(former).Batch.Local != "" && Of(latter).Batch.Local != "" {
		return nil
	}
	horizontals.Lock()
	defer horizontals.Unlock()
	key := horizontalKey{former, latter, wide}
	k := horizontals.of[key]
	if k == nil {
		k = newHorizontal(former, latter, append(options, fmt.Sprint("-DFORMER_WIDE=", wide[0]),
			fmt.Sprint("-DLATTER_WIDE=", wide[1])))
		if horizontals.of == nil {
			horizontals.of = map[horizontalKey]*kernels.Kernel{}
		}
		horizontals.of[key] = k
	}
	return k
}

// maxGroupRows is the most rows of work-groups that the latter has: devices count few of them.
const maxGroupRows = 1 << 12

// horizontalOptions returns the options that both kernels are built with; ok is false if they
// contradict each other, or there are too many arguments, or one of the two is not one that is done
// with another.
func horizontalOptions(former, latter *kernels.Kernel) (options []string, ok bool) {
	size := 0
	for _, k := range []*kernels.Kernel{former, latter} {
		if !Of(k).Batch.Horizontal() || len(cl.Named(cl.ThenHeader, k.TextOn(kernels.Target{}))) > 0 {
			return nil, false
		}
		size += argBytes(k)
		for _, o := range strings.Fields(k.Defines) {
			name, _, _ := strings.Cut(o, "=")
			if at := slices.IndexFunc(options, func(before string) bool { return before == name || strings.HasPrefix(before, name+"=") }); at < 0 {
				options = append(options, o)
			} else if options[at] != o {
				return nil, false
			}
		}
	}
	return options, size <= argBytesLimit
}

func newHorizontal(former, latter *kernels.Kernel, options []string) *kernels.Kernel {
	m := len(former.Params)
	k := &kernels.Kernel{Name: former.Name + "_" + strings.TrimPrefix(latter.Name, "k_"),
		Defines: strings.Join(options, " "), Fusions: Fusions{Kernels: []*kernels.Kernel{former, latter}}}
	for i, of := range Of(k).Kernels {
		for _, p := range of.Params {
			k.Params = append(k.Params, kernels.Param{Name: fmt.Sprintf("%s_%d", p.Name, i), Mode: p.Mode})
		}
	}
	k.File, k.Text = k.Name+".cl", horizontalText(k)
	k.Grid = func(args []kernels.Arg, l kernels.Target) kernels.Grid {
		few, many := former.Grid(args[:m], l), latter.Grid(args[m:], l)
		first, rest := few.Groups()[0], many.Groups()[0]
		row := max(first, intmath.CeilDiv(rest, maxGroupRows), 1)
		items := many.Items()
		return kernels.Grid{Dims: 2, Global: [3]int{row * items, 1 + intmath.CeilDiv(rest, row)}, Local: [3]int{items, 1}}
	}
	k.Host = eachHost(k)
	k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		return eachOperands(k, like)
	}
	return k
}

// horizontalText returns the OpenCL C of both launches.
func horizontalText(k *kernels.Kernel) string {
	depends, texts := []string{"horizontal", "common"}, []string{}
	var params, calls []string
	locals := ""
	for i, of := range Of(k).Kernels {
		files, text := ownText(of, kernels.Target{})
		for _, file := range files {
			if !slices.Contains(depends, file) {
				depends = append(depends, file)
			}
		}
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		var args []string
		for _, p := range of.Params {
			name := fmt.Sprintf("%s_%d", p.Name, i)
			params = append(params, p.Mode.Declared(name))
			if args = append(args, name); p.Mode.Buffer() {
				args = append(args, name+"_off")
			}
		}
		if Of(of).Batch.Local != "" {
			locals += fmt.Sprintf("    local REAL t_%d[%s];\n", i, Of(of).Batch.Local)
			args = append(args, fmt.Sprint("t_", i))
		}
		calls = append(calls, fmt.Sprintf("%s(%s);", Of(of).Batch.Function, strings.Join(args, ", ")))
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s\n// %s and %s, each with work-groups of its own: see internal/fused/horizontal.go.\n",
		cl.DependsHeader, strings.Join(depends, ", "), Of(k).Kernels[0].Name, Of(k).Kernels[1].Name)
	for _, text := range texts {
		s.WriteString(text)
	}
	fmt.Fprintf(&s, "\nkernel void %s(%s) {\n%s    if (horizontal_former()) {\n        %s\n    } else {\n        %s\n    }\n}\n", k.Name, strings.Join(params, ", "), locals, calls[0], calls[1])
	return s.String()
}

// ownText returns the text that a kernel brings for a device, without the lines that name other
// files, and the files that are to stand before it: its own, if it has no text.
func ownText(k *kernels.Kernel, l kernels.Target) (depends []string, text string) {
	return splitText(k, k.TextOn(l), l)
}

// splitText is ownText of a text in place of k's own.
func splitText(k *kernels.Kernel, own string, l kernels.Target) (depends []string, text string) {
	if own == "" {
		return []string{strings.TrimSuffix(k.Source(l), ".cl")}, ""
	}
	var s strings.Builder
	for line := range strings.Lines(own) {
		if !strings.HasPrefix(line, cl.DependsHeader) && !strings.HasPrefix(line, cl.ThenHeader) {
			s.WriteString(line)
		}
	}
	return cl.Named(cl.DependsHeader, own), s.String()
}

// textAround returns the two ends of a file whose middle is generated text, before k's own OpenCL C
// for a device: header is the text's first lines, @depends and @then, and own is to be appended to it, "" where k is a
// file, which the @then line names. macros is the file with the defaults of the macros that the
// text defines: it must not come before the text. needs are the files that the text itself takes.
func textAround(k *kernels.Kernel, macros string, l kernels.Target, needs ...string) (header, own string) {
	files, own := ownText(k, l)
	then := strings.Join(cl.Named(cl.ThenHeader, k.TextOn(l)), ", ")
	if own != "" {
		needs = append(needs, files...)
	} else {
		then = files[0]
	}
	needs = slices.DeleteFunc(needs, func(name string) bool { return name == macros })
	slices.Sort(needs)
	header = cl.DependsHeader + " " + strings.Join(slices.Compact(needs), ", ") + "\n"
	if then != "" {
		header += cl.ThenHeader + " " + then + "\n"
	}
	return header, own
}
