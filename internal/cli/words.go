package cli

import (
	"archive/zip"
	"compress/flate"
	"compress/zlib"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/clgrad/clgrad/clrt"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Sentence returns what went wrong in words for a person. A library names itself and its calls in
// an error, which helps who programs with it and nobody else. The text of an error is built from
// those of its causes: each cause is put into words by itself, and what its parent says of the
// package is left out.
func Sentence(err error) string {
	if s, ok := known(err); ok {
		return s
	}
	text := err.Error()
	prefix := libraryPrefix(text)
	for _, cause := range causes(err) {
		said := cause.Error()
		at := strings.Index(text, said)
		if said == "" || at < 0 {
			continue
		}
		if at < len(prefix) {
			prefix = "" // these are the words of the cause
		}
		text = text[:at] + within(text[:at], cause) + text[at+len(said):]
	}
	return strings.TrimPrefix(text, prefix)
}

// plain returns a text without what would steer a terminal: names of files may hold anything but a
// slash. Lines stay.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return '?'
		}
		return r
	}, text)
}

// OneLine returns a text in one line, without what would steer a terminal.
func OneLine(text string) string { return strings.ReplaceAll(plain(text), "\n", " ") }

// within returns the words for a cause after others. The name of a temporary file says nothing to
// anyone where the name of the file that it becomes was said, and one name need not be said twice.
func within(before string, cause error) string {
	var link *os.LinkError
	if errors.As(cause, &link) && strings.Contains(before, link.New) {
		return Sentence(link.Err)
	}
	path, ok := cause.(*fs.PathError)
	temporary := ok && strings.HasPrefix(filepath.Base(path.Path), ".") && strings.Contains(before, "write ")
	if ok && (temporary || strings.Contains(before, path.Path)) {
		return Sentence(path.Err)
	}
	return Sentence(cause)
}

func causes(err error) []error {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if cause := e.Unwrap(); cause != nil {
			return []error{cause}
		}
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	}
	return nil
}

// libraryPrefix returns what an error begins with that names a package, and the call where that
// says no more.
func libraryPrefix(text string) string {
	for _, pkg := range []string{"imagefit", "tensor", "autograd", "nn", "optim", "data", "checkpoint", "kernels", "safetensors", "npz", "replay", "npyio", "npy", "bench", "tune", "image", "zip"} {
		rest, ok := strings.CutPrefix(text, pkg+": ")
		if !ok {
			continue
		}
		for _, call := range []string{"Record", "read", "read model", "read checkpoint", "write", "write model", "write checkpoint", "render", "resume", "open", "load", "save", "could not create zip reader"} {
			if strings.HasPrefix(rest, call+": ") {
				return pkg + ": " + call + ": "
			}
		}
		if strings.HasPrefix(rest, "load ") { // a file, which is named
			return pkg + ": load "
		}
		return pkg + ": "
	}
	return ""
}

// known puts the errors of the libraries that have fields into words.
func known(err error) (string, bool) {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Path + ": " + Sentence(e.Err), true
	case *os.LinkError:
		return fmt.Sprintf("%s cannot become %s: %s", e.Old, e.New, Sentence(e.Err)), true
	case *os.SyscallError:
		return Sentence(e.Err), true
	case *net.OpError:
		if e.Addr == nil {
			return Sentence(e.Err), true
		}
		return fmt.Sprintf("%v: %s", e.Addr, Sentence(e.Err)), true
	case *net.DNSError:
		return strings.TrimPrefix(e.Name, "tcp/") + ": " + e.Err, true
	case *clrt.Error:
		return ofOpenCL(e), true
	case png.FormatError:
		return string(e), true
	case jpeg.FormatError:
		return string(e), true
	case flate.CorruptInputError:
		return fmt.Sprintf("damaged at byte %d of its compressed data", int64(e)), true
	case *json.SyntaxError:
		return fmt.Sprintf("damaged at byte %d of its JSON", e.Offset), true
	case *json.UnmarshalTypeError:
		if e.Field == "" {
			return fmt.Sprintf("its JSON is a %s where something else belongs", e.Value), true
		}
		return fmt.Sprintf("its JSON has a %s as %q", e.Value, e.Field), true
	case *strconv.NumError:
		return fmt.Sprintf("%q is not a number", e.Num), true
	case syscall.Errno:
		if e == syscall.ENOENT {
			return "no such file or folder", true
		}
	}
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		return "it ends too early", true
	case zip.ErrFormat:
		return "not a zip archive", true
	case zip.ErrChecksum, zlib.ErrChecksum:
		return "damaged: a checksum differs", true
	case zip.ErrAlgorithm:
		return "compressed in a way that is not read", true
	case zlib.ErrHeader:
		return "damaged compressed data", true
	case image.ErrFormat:
		return "unknown format", true
	}
	return "", false
}

func ofOpenCL(e *clrt.Error) string {
	s := e.Status.Error()
	if code, failed := e.Status.(clrt.Status); failed {
		s = fmt.Sprintf("%s failed with %v", e.Call, code)
	}
	if selection, ok := strings.CutPrefix(e.Call, "select "); ok && errors.Is(e.Status, clrt.ErrNoDevice) {
		s = "there is no OpenCL device " + selection // in quotation marks
	}
	if e.Device != "" {
		s += " on " + e.Device
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// FlagError returns what is wrong with a flag of a command.
func FlagError(cmd *cobra.Command, err error) error {
	return Usage(OfFlag(cmd.Name(), cmd.Flags(), err))
}

// OfFlag puts an error of pflag into words, for the flags of a program or a command.
func OfFlag(program string, flags *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var bad *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("%s has no flag -%s", program, unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		var names []string
		flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return fmt.Errorf("%s has no flag --%s%s", program, unknown.GetSpecifiedName(), DidYouMean("--", unknown.GetSpecifiedName(), names))
	case errors.As(err, &bare):
		return fmt.Errorf("--%s needs a value: %s", bare.GetFlag().Name, kindOfValue(bare.GetFlag()))
	case errors.As(err, &bad) && errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("--%s %s: the number is too large", bad.GetFlag().Name, bad.GetValue())
	case errors.As(err, &bad):
		return fmt.Errorf("--%s %s: it must be %s", bad.GetFlag().Name, bad.GetValue(), kindOfValue(bad.GetFlag()))
	case errors.As(err, &syntax):
		return fmt.Errorf("%q is not a flag", syntax.GetSpecifiedFlag())
	}
	return err
}

// kindOfValue says what a flag takes.
func kindOfValue(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64":
		return "a whole number"
	case "uint64":
		return "a whole number of at least 0"
	case "float64":
		return "a number"
	case "duration":
		return "a time, such as 30s or 5m"
	case "size":
		return "a number of bytes of at least 1, or one with a unit, such as 512M or 4G"
	case "bool":
		return "true or false"
	}
	return strings.ReplaceAll(f.Usage, "`", "")
}

// DidYouMean returns the end of a sentence that guesses which of the names, each after mark, was
// meant, or "".
func DidYouMean(mark, typed string, names []string) string {
	best, least := "", 1+len(typed)/3 // of its letters, so many may be wrong
	for _, name := range names {
		if d := distance(typed, name); d <= least && (best == "" || d < distance(typed, best)) {
			best = name
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %s%s?", mark, best)
}

// distance returns how many letters must be put in, left out, changed, or swapped with the next to
// make one word of another (the optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
