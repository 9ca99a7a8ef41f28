package fusion

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/clgrad/clgrad/kernels"
)

// Fusion is one way to make fewer launches of those that a step did.
type Fusion struct {
	Name string // as replay.Options.Without and CLGRAD_REPLAY take it: lower case letters, digits and "-"
	Doc  string // what it does, for replay.Passes: "makes one launch of …"
	// Match returns what may be replaced in a step, and by what. It proposes: package
	// replay finds out whether others read the temporaries that go, and where the launches can stand.
	// It uses the device by the methods of the step alone. If it panics, or Worth does,
	// Record returns an [ErrPanic], and the step is done as it was.
	Match func(s Step) []Match
	// Worth reports whether a match pays on a device, of what it costs after and what it cost before,
	// in the step: other passes, too, might make fewer launches of that. Nil: each match pays.
	Worth func(t kernels.Target, before, after Cost) bool
}

// Cost is what launches cost beside their arithmetic: how many there are, and the bytes that they
// read and write.
type Cost struct {
	Launches int   // how many
	Bytes    int64 // that they read and write
}

// Match is a proposal: launches of a step, and those that do their work.
type Match struct {
	Name     string   // of what was found, for explanations: "3 linear layers of 64 samples"
	Covers   []int    // the launches of the step that go
	Launches []Launch // what stands in their place, in this order: at most as many, beside those that are Once
	// Within is how far results may be off, by the largest magnitude in each: 1e-5 say, where sums
	// are added in another order. 0 asks for the same bits.
	Within float64
	// Tested says that tests of the fusion's package compare its launches with what they replace: a
	// recording only tries their kernels, each beside its host kernel. Else it does both on random operands,
	// and compares the results.
	Tested bool
	// Padding is elements that the launches write and the covered ones did not, and leave as they
	// were: the zeros between parameters that lie in one buffer.
	Padding []kernels.Arg
	Done    string // for explanations, what was made of it; "": how many launches
}

// Launch is a launch that replaces others: of a kernel with its arguments. They name memory of covered
// launches, or of [Step.New]; their numbers may be step scalars of those. What no covered launch reads of
// an InOut argument, the launch writes before it reads it.
type Launch struct {
	Kernel *kernels.Kernel // that is launched
	Args   []kernels.Arg   // as many as its Params
	Does   []int           // which of the covered launches it does, for explanations; nil: all
	// Once says that the launch is done when the step is recorded, and not in each run: it makes a
	// table, say. It comes before those that are not. It writes memory of [Step.New] alone, and reads
	// what is [Step.Constant] or what a launch before it that is Once has written; its numbers are no
	// step scalars. What it writes is kept as long as the recording, and no other launch writes there.
	Once bool
}

// Recorded is a launch of a step.
type Recorded struct {
	Kernel *kernels.Kernel // for packages that look for their own; others look at Operations
	Args   []kernels.Arg   // of the launch
	// Operations are what the launch computes, over views of Args, one after the other; nil if its
	// kernel does not describe itself.
	Operations []kernels.Op
	// Reads and Writes are the memory that the launch may read, and write.
	Reads, Writes []kernels.Arg
}

// Step is a step as it was recorded: launches in their order, and who else needs what they make.
// Package replay implements it. A range of memory is a [kernels.BufferArg].
type Step interface {
	// Launches returns the launches, which the other methods name by their place in the list. It
	// must not be changed.
	Launches() []Recorded
	// Writer returns the last launch before launch i that writes to a range of memory, or to a part
	// of it; −1 if none does: an input, say.
	Writer(i int, at kernels.Arg) int
	// Readers returns the launches that may read of a range what launch i left there.
	Readers(i int, at kernels.Arg) []int
	// Lasts reports whether some of what launch i left in a range is there after the run, for others
	// to find: it belongs to an output, a parameter, or anything else older than the recording.
	Lasts(i int, at kernels.Arg) bool
	// Lives reports whether anybody sees memory after the run.
	Lives(b kernels.Buffer) bool
	// Constant reports whether memory holds what the step uploads, the same in all runs.
	Constant(b kernels.Buffer) bool
	// One is memory of an element that holds 1: what gradients begin with.
	One() kernels.Arg
	// Name names a launch in explanations.
	Name(i int) string

	// Target is what launches must know of the device.
	Target() kernels.Target
	// MatrixUnits are those of the device.
	MatrixUnits() MatrixUnits
	// Try returns why the device does not build a kernel, or computes it wrongly beside its host kernel.
	// Operands are drawn, as many as args have; nil: a few.
	Try(k *kernels.Kernel, args []kernels.Arg) error
	// New returns memory for the launches of a match, which is there for a run. Its elements are
	// undefined before one of them has written it.
	New(t kernels.DType, n int) kernels.Arg
	// Refuse notes, for Explain and Report.NotFused, why something that looks alike is no match. A nil
	// error is not noted.
	Refuse(err error)
	// Say explains a line.
	Say(format string, a ...any)
}

// MatrixUnits are those of a device, for products whose factors are of a Precision.
type MatrixUnits struct {
	Precision kernels.Precision
	Float     kernels.DType  // that the device computes in by default
	Target    kernels.Target // that kernels with their instructions must fit
	// Has reports whether the device has the instructions for factors of a precision, TF32 or
	// float16, for groups of warps or for one. It tries them when it is first asked.
	Has func(factors kernels.Precision, grouped bool) bool
}

var registered struct {
	sync.RWMutex
	list []Fusion
}

var names = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// passes are the names of those that package replay has without fusions.
var passes = []string{"dead-store-elimination", "constant-folding", "sum-to-elementwise", "inline", "join", "epilogue",
	"split", "copy-elimination", "rows", "prologue-fusion", "split-k-into-adam", "batch-launches", "horizontal-fusion"}

// Register has all recordings from now on look for f, until remove is called. It is for func init
// of the package that brings f. Fusions are looked for in the order of their names: one sees what those
// before it have made. It panics if the name is none, or taken by another fusion or a pass of package
// replay, or if there is no Match.
func Register(f Fusion) (remove func()) {
	registered.Lock()
	defer registered.Unlock()
	at, taken := slices.BinarySearchFunc(registered.list, f, func(a, b Fusion) int { return cmp.Compare(a.Name, b.Name) })
	switch {
	case !names.MatchString(f.Name) || f.Name == "none" || f.Name == "explain":
		panic(fmt.Sprintf("fusion: Register: %q is no name of a fusion: take lower case letters, digits and -", f.Name))
	case slices.Contains(passes, f.Name):
		panic(fmt.Sprintf("fusion: Register: %q is a pass of package replay: take another name", f.Name))
	case taken:
		panic(fmt.Sprintf("fusion: Register: there is a fusion %q already", f.Name))
	case f.Match == nil:
		panic(fmt.Sprintf("fusion: Register: the fusion %q has no Match", f.Name))
	}
	registered.list = slices.Insert(slices.Clone(registered.list), at, f)
	return func() {
		registered.Lock()
		defer registered.Unlock()
		registered.list = slices.DeleteFunc(slices.Clone(registered.list), func(g Fusion) bool { return g.Name == f.Name })
	}
}

// Registered returns the fusions that recordings look for, in their order.
func Registered() []Fusion {
	registered.RLock()
	defer registered.RUnlock()
	return slices.Clone(registered.list)
}
