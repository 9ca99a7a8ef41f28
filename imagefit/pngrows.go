package imagefit

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
	"runtime"
)

// A picture as PNG, which is compressed in pieces of rows, on all cores: the standard library's encoder has one, and takes longer over
// a picture than a GPU over learning a part of it. The file does not depend on how many cores there are. Source: PNG
// Specification (Third Edition), W3C, 2025; RFC 1950.

// pngPiece is about how many bytes of rows are compressed by themselves. Fewer would find less that repeats.
const pngPiece = 1 << 17

// writeRows writes rows that are asked for from the top down, once each.
func writeRows(w io.Writer, r *raster, level int) error {
	channels, depth := r.stored(make([]float32, r.Channels()), new([4]float64)), 1
	if r.Deep {
		depth = 2
	}
	bpp := channels * depth
	p := &pngWriter{w: w, level: level, sum: adler32.New()}
	p.write([]byte("\x89PNG\r\n\x1a\n"))
	head := binary.BigEndian.AppendUint32(nil, uint32(r.width))
	head = binary.BigEndian.AppendUint32(head, uint32(r.height))
	p.chunk("IHDR", append(head, byte(8*depth), map[int]byte{1: 0, 3: 2, 4: 6}[channels], 0, 0, 0))

	stride := r.width * bpp
	rows := make([]byte, stride, stride+pngPiece+stride) // the first is that above a piece
	for y := range r.height {
		rows = r.appendRow(rows, r.row(y), depth)
		if last := y == r.height-1; last || len(rows) >= stride+pngPiece {
			p.compress(rows, stride, bpp, last)
			rows = append(make([]byte, 0, cap(rows)), rows[len(rows)-stride:]...)
		}
		if p.err != nil {
			return p.err
		}
	}
	p.flush(0)
	p.chunk("IDAT", p.sum.Sum(nil))
	p.chunk("IEND", nil)
	return p.err
}

// appendRow adds a row of pixels as it is stored.
func (r *raster) appendRow(to []byte, row []float32, depth int) []byte {
	var v [4]float64
	for x := range r.width {
		n := r.stored(row[x*r.Channels():], &v)
		for _, c := range v[:n] {
			if depth == 2 {
				to = append(to, byte(uint16(c)>>8))
			}
			to = append(to, byte(uint16(c)))
		}
	}
	return to
}

// pngWriter writes chunks, and compresses pieces meanwhile.
type pngWriter struct {
	w     io.Writer
	level int
	begun bool
	sum   hash.Hash32
	queue []chan pngPart // in order
	err   error
}

// pngPart is a piece when it is compressed.
type pngPart struct{ filtered, compressed []byte }

func (p *pngWriter) write(b []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
}

func (p *pngWriter) chunk(kind string, data []byte) {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	p.write(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:])))
}

// compress filters and compresses the rows behind the first on a goroutine of its own. As many are on their way as there are cores.
func (p *pngWriter) compress(rows []byte, stride, bpp int, last bool) {
	done := make(chan pngPart, 1)
	begin := []byte{0x78, 0x9c} // the head of a zlib stream
	if p.begun {
		begin = nil
	}
	p.begun = true
	go func() {
		var filters pngFilters
		piece := make([]byte, 0, len(rows)+len(rows)/stride)
		for at := stride; at < len(rows); at += stride {
			piece = filters.append(piece, rows[at:at+stride], rows[at-stride:at], bpp)
		}
		out := bytes.NewBuffer(begin)
		f, _ := flate.NewWriter(out, p.level) // a level that there is; a buffer takes all
		_, _ = f.Write(piece)
		if last {
			_ = f.Close()
		} else {
			_ = f.Flush() // up to a byte's boundary
		}
		done <- pngPart{piece, out.Bytes()}
	}()
	p.queue = append(p.queue, done)
	p.flush(runtime.GOMAXPROCS(0))
}

// flush writes pieces until no more than so many are on their way.
func (p *pngWriter) flush(most int) {
	for len(p.queue) > most {
		part := <-p.queue[0]
		p.queue = p.queue[1:]
		_, _ = p.sum.Write(part.filtered) // a hash takes all
		p.chunk("IDAT", part.compressed)
	}
}

// pngFilters are a row as each of the filters leaves it.
type pngFilters [5][]byte

// append adds a row to a piece, by the filter that leaves the least numbers, after the filter's number.
func (f *pngFilters) append(piece, row, before []byte, bpp int) []byte {
	best, least := 0, -1
	for kind := range f {
		out, sum := append(f[kind][:0], row...), 0
		switch kind {
		case 1:
			for i := bpp; i < len(row); i++ {
				out[i] -= row[i-bpp]
			}
		case 2:
			for i, up := range before {
				out[i] -= up
			}
		case 3:
			for i, up := range before {
				left := 0
				if i >= bpp {
					left = int(row[i-bpp])
				}
				out[i] -= byte((left + int(up)) / 2)
			}
		case 4:
			for i, up := range before {
				var left, corner byte
				if i >= bpp {
					left, corner = row[i-bpp], before[i-bpp]
				}
				out[i] -= paeth(left, up, corner)
			}
		}
		for _, v := range out {
			sum += abs(int(int8(v)))
		}
		if f[kind] = out; least < 0 || sum < least {
			best, least = kind, sum
		}
	}
	return append(append(piece, byte(best)), f[best]...)
}

// paeth returns which of its neighbours a byte is nearest to, if they lie in a plane.
func paeth(left, up, corner byte) byte {
	p := int(left) + int(up) - int(corner)
	a, b, c := abs(p-int(left)), abs(p-int(up)), abs(p-int(corner))
	switch {
	case a <= b && a <= c:
		return left
	case b <= c:
		return up
	}
	return corner
}

func abs(v int) int { return max(v, -v) }
