package replay

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/environment"
	"github.com/clgrad/clgrad/replay/fusion"
	"github.com/clgrad/clgrad/tensor"
)

// Options says how [Record] goes about its work. The zero value is what it does when nothing is
// said.
type Options struct {
	// Without names passes that are not to be done, as [Passes] lists them; "none" stands for all
	// of them: then every launch is replayed as it was.
	Without []string
	// Constants are tensors that stay as they are while there is the recording, such as the weights of a model that is not
	// trained: what is computed of them alone is computed once. Who changes them gets results of both.
	Constants []*tensor.Tensor
	// Explain gets a line each that says which launches were fused, and which were not, and why.
	// Nil: nobody.
	Explain io.Writer
}

// Env names the environment variable that says for all recordings of a program what [Options] say
// for one, in words that commas separate: "explain" writes explanations to stderr, "none" switches
// all passes off, and -NAME one of them. The two add up: what either switches off is off.
const Env = "CLGRAD_REPLAY"

// rewrite is one way to make fewer launches of those that a step did.
type rewrite struct {
	name, does string
	do         func(r *rewriter)
}

// rewrites returns all passes, in the order in which they are done. Their files are rewrite_NAME.go:
//
//	dead        dead-store-elimination   split       split
//	registered  fusions of others        copies      copy-elimination
//	constants   constant-folding         rows        rows
//	sums        sum-to-elementwise       prologue    prologue-fusion
//	inline      inline                   splitk      split-k-into-adam
//	join        join                     batch       batch-launches
//	epilogue    epilogue                 horizontal  horizontal-fusion
func rewrites() []rewrite {
	list := []rewrite{deadPass}
	for _, f := range fusion.Registered() {
		list = append(list, registeredFusion(f))
	}
	return append(list, constantPass, sumPass, inlinePass, joinPass, epiloguePass, splitPass, copyPass, rowsPass,
		prologuePass, splitKPass, batchPass, horizontalPass)
}

// Passes returns the names of the passes, and what each does.
func Passes() [][2]string {
	var list [][2]string
	for _, w := range rewrites() {
		list = append(list, [2]string{w.name, w.does})
	}
	return list
}

const none = "none"

// options returns what was said by the caller and by the environment.
func options(list []Options) (Options, error) {
	var opt Options
	switch {
	case len(list) > 1:
		panic(fault("Record", tensor.ErrValue, "pass one Options"))
	case len(list) == 1:
		opt = list[0]
	}
	opt.Without = slices.Clone(opt.Without)
	for _, name := range opt.Without {
		if !known(name) {
			return opt, fault("Record", tensor.ErrValue, "Options.Without: there is no pass %q: there are %s, or %q", name, names(), none)
		}
	}
	if err := opt.take(os.Getenv(Env)); err != nil {
		return opt, fmt.Errorf("replay: Record: %w", err)
	}
	return opt, nil
}

func init() { environment.Register(Env, func() error { return new(Options).take(os.Getenv(Env)) }) }

// take adds the words of the environment to o.
func (o *Options) take(words string) error {
	for _, word := range strings.Split(words, ",") {
		name, off := strings.CutPrefix(word, "-")
		switch {
		case word == "":
		case word == "explain":
			if o.Explain == nil {
				o.Explain = os.Stderr
			}
		case word == none, off && known(name) && name != none:
			o.Without = append(o.Without, name)
		default:
			return fmt.Errorf("%w: %s has the word %q: it takes explain, none, or - and one of %s", ErrEnvironment, Env, word, names())
		}
	}
	return nil
}

func known(name string) bool {
	return name == none || slices.ContainsFunc(rewrites(), func(w rewrite) bool { return w.name == name })
}

// names lists the passes for errors.
func names() string {
	var list []string
	for _, w := range rewrites() {
		list = append(list, w.name)
	}
	return strings.Join(list, ", ")
}

// without reports whether a rewrite is switched off.
func (o *Options) without(name string) bool {
	return slices.Contains(o.Without, name) || slices.Contains(o.Without, none)
}

// say explains a line.
func (o *Options) say(format string, a ...any) {
	if o.Explain != nil {
		fmt.Fprintf(o.Explain, "replay: "+format+"\n", a...)
	}
}
