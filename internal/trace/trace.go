// Package trace tells a listener which operations are called on nodes, and in which layers: onnx.Export makes a file of
// that, nn.Summary a table.
//
// An operation that is made of others is recorded after them, for the same result: what comes last says best what it
// is.
package trace

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/clgrad/clgrad/internal/goroutine"
)

// Call is one call of an operation.
type Call struct {
	Op      string   // the name of the method, such as "Softmax", or of the node
	Args    []any    // the receiver and the arguments, in their order
	Results []any    // *autograd.Node or *tensor.Tensor
	Place   string   // of the program that called it, "model.go:12", or ""
	Version []uint64 // of the results, as the listener counts them
	// Opaque says that Op is all that is known: Args are the nodes that it was computed from.
	Opaque bool
}

// Layer is one run of a layer of a model.
type Layer struct {
	Layer    any // a pointer, or a slice of modules
	Results  []any
	From, To int // the calls that were made in it, those in layers within it too
	Depth    int // how many layers it ran in
}

// listener is the goroutine that During runs in, and what it has called.
type listener struct {
	goroutine uintptr
	version   func(result any) uint64
	keep      func(arg any)
	calls     []Call
	layers    []Layer
	open      []int // the layers that run now, the innermost last
}

var (
	one    sync.Mutex // of During
	active atomic.Pointer[listener]
)

// On reports whether somebody listens to this goroutine.
func On() bool {
	l := active.Load()
	return l != nil && l.goroutine == goroutine.ID()
}

// During runs f and returns what it called, with the versions of results, and the layers that ran. keep is given each
// argument, which may be freed after the call. A second During waits for the first.
func During(f func(), version func(result any) uint64, keep func(arg any)) ([]Call, []Layer) {
	one.Lock()
	defer one.Unlock()
	l := &listener{goroutine: goroutine.ID(), version: version, keep: keep}
	active.Store(l)
	defer active.Store(nil)
	f()
	return l.calls, l.layers
}

// Enter says that a layer begins to run, where On says that somebody listens; Leave ends it.
func Enter(layer any) {
	l := active.Load()
	l.layers = append(l.layers, Layer{Layer: layer, From: len(l.calls), Depth: len(l.open)})
	l.open = append(l.open, len(l.layers)-1)
}

// Leave says what the layer returns that was entered last.
func Leave(results ...any) {
	l := active.Load()
	last := len(l.open) - 1
	layer := &l.layers[l.open[last]]
	layer.Results, layer.To = results, len(l.calls)
	l.open = l.open[:last]
}

// Record adds a call, where On says that somebody listens. One that returned what it was given is none.
func Record(op string, args []any, results ...any) {
	record(Call{Op: op, Args: args, Results: results})
}

// RecordOpaque adds a call of which nothing is known but its name.
func RecordOpaque(op string, args []any, result any) {
	record(Call{Op: op, Args: args, Results: []any{result}, Opaque: true})
}

func record(c Call) {
	if slices.Contains(nodes(c.Args), c.Results[0]) {
		return
	}
	for i, a := range c.Args { // the caller may change its own
		if list, ok := a.([]int); ok {
			c.Args[i] = slices.Clone(list)
		}
	}
	c.Place = place()
	l := active.Load()
	for _, a := range c.Args {
		l.keep(a)
	}
	for _, y := range c.Results {
		c.Version = append(c.Version, l.version(y))
	}
	l.calls = append(l.calls, c)
}

// nodes returns the arguments that == compares.
func nodes(args []any) []any {
	return slices.DeleteFunc(slices.Clone(args), func(a any) bool {
		return !strings.HasPrefix(fmt.Sprintf("%T", a), "*")
	})
}

// inside are the packages whose lines are no place of a program.
const inside = "github.com/clgrad/clgrad/"

// place returns the line that called an operation, of the first function outside of this module or in a test or an
// example of it.
func place() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		path, _, _ := strings.Cut(strings.TrimPrefix(f.Function, inside), ".")
		own := strings.HasPrefix(f.Function, inside) && !strings.HasSuffix(f.File, "_test.go") &&
			!strings.HasPrefix(path, "examples")
		if !own && f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}
