package imagefit

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
)

// guard is the contents of a file as a decoder reads them. Reading fails once the context is done, which ends a decoder
// that is long at work, or once the program holds more memory than it may: a few bytes can be blown up to any number of
// them where no header says so, as in the tiles of a TIFF.
type guard struct {
	*bytes.Reader
	ctx    context.Context
	bounds Bounds
}

// Read is part of io.Reader.
func (g *guard) Read(p []byte) (int, error) {
	if err := g.check(); err != nil {
		return 0, err
	}
	return g.Reader.Read(p)
}

// ReadByte is part of io.ByteReader, which decoders use as they would a bufio.Reader: it is not checked at each byte.
func (g *guard) ReadByte() (byte, error) {
	if g.Len()%(1<<12) == 0 {
		if err := g.check(); err != nil {
			return 0, err
		}
	}
	return g.Reader.ReadByte()
}

// ReadAt is part of io.ReaderAt.
func (g *guard) ReadAt(p []byte, off int64) (int, error) {
	if err := g.check(); err != nil {
		return 0, err
	}
	return g.Reader.ReadAt(p, off)
}

func (g *guard) check() error {
	if err := g.ctx.Err(); err != nil {
		return err
	}
	if g.bounds.Memory == 0 || heap() <= g.bounds.Memory {
		return nil
	}
	runtime.GC() // much of it may be garbage
	if now := heap(); now > g.bounds.Memory {
		return fmt.Errorf("%w: the picture has filled %s, and may take %s", ErrMemory, FormatBytes(now), FormatBytes(g.bounds.Memory))
	}
	return nil
}

// heap returns the bytes of the program's objects, garbage included.
func heap() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
