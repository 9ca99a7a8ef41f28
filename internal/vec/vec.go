// Package vec computes with the vector instructions of the processor: AVX-512, or AVX2, FMA and
// F16C, or NEON, which has all but the loops of HashIndices, GatherInterp and ScatterAdd, those
// between bytes or floats of 16 bits and numbers, those of Fill, Reverse, Rotate, Butterfly and Taps, and those of tall
// blocks that turn a factor. Products of bytes use VNNI where it is there, in vectors of either width,
// and with NEON its dot product, without which they are plain loops. Which there are is found at run
// time. Results are the same with each of them, to the bit; those of plain loops are others, within
// rounding.
//
// The assembly is written by the program in the folder gen.
package vec

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// Env is the environment variable that chooses the instructions.
const Env = "CLGRAD_VECTORS"

// Float is what is computed with.
type Float interface{ float32 | float64 }

// Set is loops in the instructions of one extension of a processor.
type Set struct {
	name   string
	single Loops[float32]
	double Loops[float64]
	ints   intJoins
	bytes  byteLoops
	halves halfLoops

	byteProducts byteProductLoops
	weights      weightLoops

	fill func(n int, to *uint32, v uint32)

	reverse func(n int, to, from *uint32)
}

// Loops is those on one type of floats.
type Loops[T Float] struct {
	blocks      blocks[T]
	tall        talls[T]
	transposer  transposer[T]
	maps        mapping[T]
	rowLoops    rows[T]
	adamw       func(n int, p, d, m, v, by *T)
	rotate      func(n int, x, y, by *T)
	butterfly   func(n int, to, from *T, plane, toApart, fromApart int, by *T)
	corners     cornerLoops[T]
	maxPool     func(n int, y *T, places *int32, x *T, width int, first int32)
	copies      copyLoop
	addWide     func(n int, to *float64, x *T)
	everySecond func(n int, to, from *T)
	tapSums     func(n int, to, x *T, taps int, offsets *int, by *T)
	deviations  deviationLoops[T]
	norms       normLoops[T]
	pool        sync.Pool // of *scratch[T]
	tasks       sync.Pool // of *task[T]
	scratchPool sync.Pool // of *Room[T]
}

// String returns the name that Env has for the set.
func (s *Set) String() string { return s.name }

// On returns the loops of a set on floats of type T.
func On[T Float](s *Set) *Loops[T] {
	if l, ok := any(&s.single).(*Loops[T]); ok {
		return l
	}
	return any(&s.double).(*Loops[T])
}

// Sets returns what this processor has, the widest first.
func Sets() []*Set { return sets() }

var sets = sync.OnceValue(found)

var chosen = sync.OnceValues(func() (*Set, error) { return choose(os.Getenv(Env), Sets()) })

// Chosen returns the widest set, or the one that the environment names. nil stands for plain loops,
// where the processor has none or the environment says so. The error says that what it names is not
// there.
func Chosen() (*Set, error) { return chosen() }

// Check returns an error if the environment names instructions that are not there.
func Check() error {
	_, err := choose(os.Getenv(Env), Sets())
	return err
}

func choose(name string, there []*Set) (*Set, error) {
	switch {
	case name == "off", name == "" && len(there) == 0:
		return nil, nil
	case name == "":
		return there[0], nil
	}
	names := []string{"off"}
	for _, s := range there {
		if s.name == name {
			return s, nil
		}
		names = append(names, s.name)
	}
	return nil, fmt.Errorf("%s is %q: on this processor it may be %s", Env, name, strings.Join(names, ", "))
}
