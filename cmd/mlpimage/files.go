package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/samefile"
)

// stream is the name that stands for standard input or output. A file of this name is "./-".
const stream = "-"

// standardOutput are the names that systems give to standard output.
var standardOutput = []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}

// picturePath returns the name of a picture to write, which is stream for standard output by
// whatever name: it is not replaced, and nothing else is written to it.
func picturePath(path string) string {
	if slices.Contains(standardOutput, path) {
		return stream
	}
	return path
}

// named is a file that a command line names, and as what.
type named struct{ what, path string }

// What the two checkpoints of a run that is resumed are named as.
const (
	resumedFrom  = "the checkpoint"
	checkpointTo = "--checkpoint"
)

// file returns the file, of which there may be none yet; open is what "-" stands for.
func (n named) file(open *os.File) (samefile.ID, error) {
	if n.path == stream {
		return samefile.OfOpen(open)
	}
	return samefile.Of(n.path)
}

// spoken returns the name for a message; open says what "-" stands for.
func (n named) spoken(open string) string {
	if n.path == stream {
		return open
	}
	return n.path
}

// distinct returns an error if an output is one of the inputs, or another output, under whatever
// name: what was read would be lost, or what was written. Devices lose nothing. A run that is
// resumed writes to its own checkpoint.
func distinct(inputs, outputs []named) error {
	type known struct {
		named
		id     samefile.ID
		output bool
	}
	byKey := map[any][]known{}
	for _, n := range inputs {
		if id, err := n.file(os.Stdin); err == nil { // else reading it says why
			byKey[id.Key()] = append(byKey[id.Key()], known{n, id, false})
		}
	}
	for _, n := range outputs {
		id, err := n.file(os.Stdout)
		if err != nil {
			return atomicfile.Failed(n.path, err)
		}
		if id.Device() {
			continue
		}
		for _, k := range byKey[id.Key()] {
			goesOn := k.what == resumedFrom && n.what == checkpointTo
			if !goesOn && k.id.Same(id) {
				return cli.Usage(clash(k.named, n, k.output))
			}
		}
		byKey[id.Key()] = append(byKey[id.Key()], known{n, id, true})
	}
	return nil
}

// clash says that an output is a file that was named before.
func clash(before, output named, twoOutputs bool) error {
	from, to := before.spoken("standard input"), output.spoken("standard output")
	also := ""
	if from != to {
		also = ": it is the same file as " + from
	}
	if twoOutputs {
		return fmt.Errorf("two outputs, %s and %s, have the name %s%s", before.what, output.what, to, also)
	}
	return fmt.Errorf("the output %s would overwrite %s%s: name another file", to, before.what, also)
}

// onStandardOutput returns the first of the files that is standard output, by whatever name: what
// else is printed there would be part of it. A device that has a name, such as a terminal, keeps
// nothing.
func onStandardOutput(outputs ...named) (named, bool) {
	open, err := samefile.OfOpen(os.Stdout)
	for _, n := range outputs {
		if n.path == stream {
			return n, true
		}
		if id, errOf := n.file(os.Stdout); err == nil && errOf == nil && !open.Device() && id.Same(open) {
			return n, true
		}
	}
	return named{}, false
}

// writeFile writes a file, or standard output where that is named.
func writeFile(path string, stdout io.Writer, write func(io.Writer) error) error {
	if path == stream {
		return write(stdout)
	}
	return atomicfile.Write(path, write)
}

// checkPicture finds what is wrong with the name of a picture to write, and returns its format.
func checkPicture(path string, quality int, stdout io.Writer) (imagefit.Format, error) {
	if path == stream {
		if o, ok := stdout.(*cli.Output); ok && o.Terminal() {
			return imagefit.Format{}, cli.Usage(errors.New("-o -: standard output is a terminal, which shows no picture: add > FILE.png or | PROGRAM"))
		}
		path = "" // a PNG
	}
	f, err := imagefit.FormatOf(path, quality)
	if err != nil {
		return f, cli.Usage(err)
	}
	return f, nil
}
