// Package program is what the examples have in common at their edges: flags, signals, pictures, and
// what is said of errors.
package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
)

// Main parses the flags of pflag.CommandLine, runs a program and ends it: with code 1 after an
// error, and with code 2 if the command line makes no sense or a required flag is left out. What went
// wrong is said in a line.
func Main(name string, run func() error, required ...string) {
	os.Exit(end(name, os.Args[1:], run, required))
}

// Interruptible is Main for a program that ends by itself when ctx does: at the first Ctrl-C or
// SIGTERM. A second one ends it at once.
func Interruptible(name string, run func(ctx context.Context) error) {
	Main(name, func() error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		return run(ctx)
	})
}

func end(name string, args []string, run func() error, required []string) int {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.Usage = func() {} // it is said below
	flags.SortFlags, pflag.CommandLine.SortFlags = false, false
	flags.AddFlagSet(pflag.CommandLine)
	err, code := flags.Parse(args), cli.ExitUsage
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Printf("The flags of %s:\n%s", name, flags.FlagUsages())
		return cli.ExitOK
	case err != nil:
		err = cli.OfFlag("it", flags, err)
	case flags.NArg() > 0:
		err = fmt.Errorf("it takes flags alone, and got %s", strings.Join(flags.Args(), " "))
	default:
		if err = cmp.Or(cli.NoneEmpty(flags), needed(flags, required)); err == nil {
			err, code = run(), cli.ExitFailure
		}
	}
	if err == nil {
		return cli.ExitOK
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", name, cli.Sentence(err))
	return code
}

// needed returns an error that names the required flags that are not given.
func needed(flags *pflag.FlagSet, required []string) error {
	var missing []string
	for _, name := range required {
		if !flags.Changed(name) {
			_, usage := pflag.UnquoteUsage(flags.Lookup(name))
			missing = append(missing, "--"+name+" ("+usage+")")
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return errors.New("it needs " + strings.Join(missing, " and "))
}

// MixedPrecision makes the flag --type: what products are computed in, for autograd.Autocast.
func MixedPrecision() *tensor.Type {
	m := new(mixedPrecision)
	pflag.Var(m, "type", "float32, bfloat16 or float16: what products are computed in")
	return (*tensor.Type)(m)
}

// mixedPrecision is a type that autograd.Autocast takes, as a flag.
type mixedPrecision tensor.Type

func (m *mixedPrecision) String() string { return tensor.Type(*m).String() }

func (m *mixedPrecision) Type() string { return "name" }

func (m *mixedPrecision) Set(name string) error {
	for _, typ := range []tensor.Type{tensor.Float32, tensor.BFloat16, tensor.Float16} {
		if name == typ.String() {
			*m = mixedPrecision(typ)
			return nil
		}
	}
	return errors.New("it must be float32, bfloat16 or float16")
}

// Builds shows on a terminal which kernel is being built: tensor.Options.Builds.
var Builds = cli.NewBuildLine(os.Stderr)

// CheckFile reports that a file cannot be written, before the work for it is done.
func CheckFile(path string) error { return atomicfile.Check(path) }

// SavePNG writes a picture. The file is complete or as it was.
func SavePNG(path string, img image.Image) error {
	return atomicfile.Write(path, func(w io.Writer) error { return png.Encode(w, img) })
}
