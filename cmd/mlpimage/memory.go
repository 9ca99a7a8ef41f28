package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
)

// memory is how much of it a command may take for what it reads and draws.
type memory struct {
	bytes int64 // 0: half of what there is
	jobs  int   // that share it, 0 for one
}

func (m *memory) register(fs *pflag.FlagSet) {
	fs.Var(m, "max-memory", `refuse what takes more memory than this, such as 512M or 4G
(default: half of what the machine or its cgroup has)`)
}

// String is part of pflag.Value: there is no default to show that would be the same on another
// machine.
func (m *memory) String() string { return "" }

// Type is part of pflag.Value.
func (m *memory) Type() string { return "size" }

// Set is part of pflag.Value.
func (m *memory) Set(text string) error {
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(text)), "B"), "I")
	unit := 1.0
	if at := strings.IndexByte("KMGT", append([]byte(number), ' ')[max(len(number)-1, 0)]); at >= 0 {
		unit = math.Pow(1024, float64(at+1))
		number = number[:len(number)-1]
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v*unit >= 1 && v*unit < math.MaxInt64) {
		return errors.New("no number of bytes") // kindOfValue says what is one
	}
	m.bytes = int64(v * unit)
	return nil
}

// limit returns the bytes that the command may take, and holds the program's own memory to that.
func (m *memory) limit() int64 {
	if m.bytes == 0 {
		m.bytes = math.MaxInt64
		for _, has := range []memlimit.Provider{memlimit.FromCgroup, memlimit.FromSystem} {
			if n, err := has(); err == nil {
				m.bytes = min(m.bytes, int64(min(n, math.MaxInt64)/2))
			}
		}
	}
	debug.SetMemoryLimit(m.bytes)
	debug.SetGCPercent(imagefit.GarbagePercent)
	return m.bytes
}

func (m *memory) bounds() imagefit.Bounds {
	return imagefit.Bounds{Memory: m.limit() / int64(max(m.jobs, 1))}
}

// raises says what raises the limit.
func (m *memory) raises() string {
	if m.jobs > 1 {
		return fmt.Sprintf("it is a share of --max-memory for each of the %d --jobs", m.jobs)
	}
	return "--max-memory raises it"
}

// explain says how what was refused for its memory can be allowed, and which file it is.
func (m *memory) explain(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	switch path {
	case "": // it is said elsewhere
	case stream:
		path = "standard input: "
	default:
		path += ": "
	}
	if errors.Is(err, imagefit.ErrMemory) {
		return fmt.Errorf("%s%w: %s", path, err, m.raises())
	}
	return fmt.Errorf("%s%w", path, err)
}

// errInterrupted is what a command ends with that was interrupted before it had anything to write.
var errInterrupted error = cli.Interrupted(errors.New("interrupted: nothing was written"))

// read returns the contents of a file or of standard input, which must fit in the memory that there
// may be. It returns at once when ctx is done: a pipe may have nothing to say for ever.
func (m *memory) read(ctx context.Context, path string) ([]byte, error) {
	most := m.bounds().Memory
	type result struct {
		raw []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		raw, err := readAll(path, most, m.raises())
		done <- result{raw, err}
	}()
	select {
	case r := <-done:
		return r.raw, r.err
	case <-ctx.Done():
		return nil, errInterrupted
	}
}

// readAll is read; raises says what raises the limit.
func readAll(path string, most int64, raises string) ([]byte, error) {
	f := os.Stdin
	if path != stream {
		var err error
		if f, _, err = regular.OpenOrPipe(path); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	tooLarge := func(n, why string) error {
		name := path
		if path == stream {
			name = "standard input"
		}
		return fmt.Errorf("%s: it has %s, and the limit is %s%s: %s", name, n, imagefit.FormatBytes(most), why, raises)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		raw, err := readStream(f, most/2)
		if errors.Is(err, errTooLarge) {
			return nil, tooLarge("more than "+imagefit.FormatBytes(most/2), ", of which what comes through a pipe may have half")
		}
		return raw, err
	}
	if info.Size() > most {
		return nil, tooLarge(imagefit.FormatBytes(info.Size()), "")
	}
	raw := make([]byte, info.Size())
	n, err := io.ReadFull(f, raw)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) { // it was cut meanwhile
		err = nil
	}
	return raw[:n], err
}

var errTooLarge = errors.New("too large")

// readStream returns all of a stream of at most so many bytes. It takes twice as many: a buffer
// that grew would take three times as many.
func readStream(r io.Reader, most int64) ([]byte, error) {
	const piece = 1 << 20
	var pieces [][]byte
	var n int64
	for {
		part := make([]byte, min(piece, most-n+1))
		k, err := io.ReadFull(r, part)
		pieces, n = append(pieces, part[:k]), n+int64(k)
		switch {
		case n > most:
			return nil, errTooLarge
		case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
			return slices.Concat(pieces...), nil
		case err != nil:
			return nil, err
		}
	}
}

// image reads a picture.
func (m *memory) image(ctx context.Context, path string) (*imagefit.Image, error) {
	raw, err := m.read(ctx, path)
	if err != nil {
		return nil, err
	}
	return m.decode(ctx, path, raw)
}

// decode is image of a file's contents.
func (m *memory) decode(ctx context.Context, path string, raw []byte) (*imagefit.Image, error) {
	img, err := m.bounds().DecodeImage(ctx, raw)
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	return img, m.explain(path, err)
}

// fit returns an error if training with these settings takes more memory than there may be.
func (m *memory) fit(img *imagefit.Image, cfg imagefit.Config) error {
	err := m.explain("", m.bounds().AllowFit(img, cfg))
	if errors.Is(err, imagefit.ErrConfig) {
		return cli.Usage(err)
	}
	return err
}

// model puts the model of a file's contents onto a device.
func (m *memory) model(d tensor.Device, path string, raw []byte) (*imagefit.Model, error) {
	model, err := m.bounds().DecodeModel(d, raw)
	return model, m.explain(path, err)
}

// checkpoint reads a checkpoint.
func (m *memory) checkpoint(ctx context.Context, path string) (*imagefit.Saved, error) {
	raw, err := m.read(ctx, path)
	if err != nil {
		return nil, err
	}
	saved, err := m.bounds().DecodeCheckpoint(raw)
	return saved, m.explain(path, err)
}
