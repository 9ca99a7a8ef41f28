package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// wav reads the samples of a WAV file: integers of 8 to 32 bits, or floats. Channels are mixed to one.
type wav struct {
	rate     int // samples a second
	channels int
	bits     int // of a sample of one channel
	float    bool
	from     *bufio.Reader
	left     int64 // bytes
	frame    []byte
}

const (
	formatPCM        = 1
	formatFloat      = 3
	formatExtensible = 0xfffe // the first two bytes of the GUID that follows are the format
)

var errNoWAV = errors.New("it is no WAV file")

// newWAV reads up to the samples.
func newWAV(r io.Reader) (*wav, error) {
	w := &wav{from: bufio.NewReaderSize(r, 1<<16)}
	var head [12]byte
	if _, err := io.ReadFull(w.from, head[:]); err != nil || string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return nil, errNoWAV
	}
	for {
		var chunk [8]byte
		if _, err := io.ReadFull(w.from, chunk[:]); err != nil {
			return nil, fmt.Errorf("%w that has samples", errNoWAV)
		}
		size := int64(binary.LittleEndian.Uint32(chunk[4:]))
		switch string(chunk[:4]) {
		case "fmt ":
			if err := w.format(size); err != nil {
				return nil, err
			}
		case "data":
			if w.rate == 0 {
				return nil, fmt.Errorf("%w: its samples come before their format", errNoWAV)
			}
			if size == 0xffffffff { // a program that wrote to a pipe did not know
				size = math.MaxInt64
			}
			w.left = size
			w.frame = make([]byte, w.channels*w.bits/8)
			return w, nil
		default:
			if _, err := io.CopyN(io.Discard, w.from, size+size&1); err != nil {
				return nil, fmt.Errorf("%w that has samples", errNoWAV)
			}
		}
	}
}

func (w *wav) format(size int64) error {
	if size < 16 || size > 1024 {
		return fmt.Errorf("%w: the description of its format has %d bytes", errNoWAV, size)
	}
	b := make([]byte, size+size&1)
	if _, err := io.ReadFull(w.from, b); err != nil {
		return fmt.Errorf("%w: it ends too early", errNoWAV)
	}
	kind := binary.LittleEndian.Uint16(b)
	if kind == formatExtensible && size >= 26 {
		kind = binary.LittleEndian.Uint16(b[24:])
	}
	w.channels = int(binary.LittleEndian.Uint16(b[2:]))
	w.rate = int(binary.LittleEndian.Uint32(b[4:]))
	w.bits = int(binary.LittleEndian.Uint16(b[14:]))
	w.float = kind == formatFloat
	integers := kind == formatPCM && w.bits%8 == 0 && w.bits >= 8 && w.bits <= 32
	if !integers && !(w.float && (w.bits == 32 || w.bits == 64)) {
		return fmt.Errorf("samples of %d bits in format %d are not read: convert it to 16 bits PCM", w.bits, kind)
	}
	if w.channels < 1 || w.rate < 1000 || w.rate > 384000 {
		return fmt.Errorf("it has %d channels of %d samples a second: 1 or more of 1000 to 384000 are read",
			w.channels, w.rate)
	}
	return nil
}

// next returns a sample of −1 to 1, the mean of all channels, and io.EOF after the last.
func (w *wav) next() (float32, error) {
	if w.left < int64(len(w.frame)) {
		return 0, io.EOF
	}
	w.left -= int64(len(w.frame))
	if _, err := io.ReadFull(w.from, w.frame); err != nil {
		if err == io.ErrUnexpectedEOF { // the file ends within a sample
			err = io.EOF
		}
		return 0, err
	}
	sum, size := 0.0, w.bits/8
	for c := range w.channels {
		sum += w.sample(w.frame[c*size : (c+1)*size])
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		sum = 0
	}
	return float32(sum / float64(w.channels)), nil
}

func (w *wav) sample(b []byte) float64 {
	switch {
	case w.float && w.bits == 32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case w.float:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case w.bits == 8: // without a sign
		return (float64(b[0]) - 128) / 128
	}
	var v int32 // in the upper bits
	for i, x := range b {
		v |= int32(x) << (8 * (4 - len(b) + i))
	}
	return float64(v) / (1 << 31)
}
