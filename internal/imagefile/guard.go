package imagefile

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// guard is the contents of a file as a decoder reads them. Reading fails once the context is done,
// which ends a decoder that is long at work, or once the program holds more memory than its limit
// (debug.SetMemoryLimit): a few bytes can be blown up to any number of them where no header says
// so, as in the strips of a TIFF.
type guard struct {
	*bytes.Reader
	ctx context.Context
}

// Read is part of io.Reader.
func (g *guard) Read(p []byte) (int, error) {
	if err := g.check(); err != nil {
		return 0, err
	}
	return g.Reader.Read(p)
}

// ReadByte is part of io.ByteReader, which decoders use as they would a bufio.Reader: it is not
// checked at each byte.
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
	limit := debug.SetMemoryLimit(-1)
	if heap() <= limit {
		return nil
	}
	runtime.GC() // much of it may be garbage
	if now := heap(); now > limit {
		return fmt.Errorf("%w: decoding has filled %s, and the limit is %s", ErrMemory, FormatBytes(now), FormatBytes(limit))
	}
	return nil
}

// heap returns the bytes of the program's objects, garbage included.
func heap() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// FormatBytes writes a number of bytes for people, in units of 1024.
func FormatBytes(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	v, unit := float64(n), -1
	for v >= 1023.5 && unit < len(units)-1 {
		v /= 1024
		unit++
	}
	if v < 9.95 {
		return fmt.Sprintf("%.1f %cB", v, units[unit])
	}
	return fmt.Sprintf("%.0f %cB", v, units[unit])
}
