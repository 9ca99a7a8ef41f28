package imagedecoder

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"strings"
)

func init() {
	for _, magic := range []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7"} {
		image.RegisterFormat("pnm", magic, decodePNM, decodePNMConfig)
	}
}

// header is that of a portable bitmap (P1, P4), graymap (P2, P5), pixmap (P3, P6) or arbitrary map (P7).
type header struct {
	width, height, channels, most int
	plain, bits                   bool // numbers in ASCII; a bit a pixel, 1 for black
}

var errPNM = errors.New("pnm: the file is not of the format")

func decodePNMConfig(r io.Reader) (image.Config, error) {
	h, err := readHeader(bufio.NewReader(r))
	return image.Config{ColorModel: color.NRGBAModel, Width: h.width, Height: h.height}, err
}

func decodePNM(r io.Reader) (image.Image, error) {
	b := bufio.NewReader(r)
	h, err := readHeader(b)
	if err != nil {
		return nil, err
	}
	p := image.NewNRGBA(image.Rect(0, 0, h.width, h.height))
	for y := range h.height {
		row, err := h.row(b)
		if err != nil {
			return nil, err
		}
		for x := range h.width {
			v := row[x*h.channels : (x+1)*h.channels]
			c := color.NRGBA{v[0], v[0], v[0], 255}
			if h.channels >= 3 {
				c = color.NRGBA{v[0], v[1], v[2], 255}
			}
			p.SetNRGBA(x, y, c)
		}
	}
	return p, nil
}

// row reads a row of samples, of 0 to 255.
func (h header) row(b *bufio.Reader) ([]byte, error) {
	out := make([]byte, h.width*h.channels)
	var packed []byte
	if h.bits && !h.plain {
		packed = make([]byte, (h.width+7)/8)
		if _, err := io.ReadFull(b, packed); err != nil {
			return nil, err
		}
	}
	for i := range out {
		var v int
		var err error
		switch {
		case packed != nil:
			v = int(packed[i/8]>>(7-i%8)) & 1
		case h.bits: // digits may stand side by side
			v, err = bit(b)
		case h.plain:
			v, err = number(b)
		default:
			v, err = sample(b, h.most)
		}
		if err != nil {
			return nil, err
		}
		if h.bits {
			v = 1 - v
		}
		out[i] = byte((min(v, h.most)*255 + h.most/2) / h.most)
	}
	return out, nil
}

// sample reads a binary sample: of two bytes, the high one first, if the largest says so.
func sample(b *bufio.Reader, most int) (int, error) {
	v, err := b.ReadByte()
	if err != nil || most < 256 {
		return int(v), err
	}
	low, err := b.ReadByte()
	return int(v)<<8 | int(low), err
}

func readHeader(b *bufio.Reader) (header, error) {
	magic := make([]byte, 2)
	if _, err := io.ReadFull(b, magic); err != nil {
		return header{}, err
	}
	kind := int(magic[1] - '0')
	if kind == 7 {
		return readArbitrary(b)
	}
	h := header{channels: 1, most: 1, plain: kind <= 3, bits: kind%3 == 1}
	fields := []*int{&h.width, &h.height}
	if kind%3 == 0 {
		h.channels = 3
	}
	if !h.bits {
		fields = append(fields, &h.most)
	}
	for _, f := range fields {
		var err error
		if *f, err = number(b); err != nil {
			return header{}, err
		}
	}
	return h, h.check()
}

// readArbitrary reads the header of a P7: lines of a name and a value.
func readArbitrary(b *bufio.Reader) (header, error) {
	h := header{}
	for range 100 {
		line, err := b.ReadString('\n')
		if err != nil {
			return h, err
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		field := map[string]*int{"WIDTH": &h.width, "HEIGHT": &h.height, "DEPTH": &h.channels, "MAXVAL": &h.most}[name]
		switch {
		case name == "ENDHDR":
			return h, h.check()
		case field != nil:
			if _, err := fmt.Sscan(value, field); err != nil {
				return h, err
			}
		}
	}
	return h, errPNM
}

func (h header) check() error {
	if h.width < 1 || h.height < 1 || h.width > mostPixels/h.height || h.channels < 1 || h.channels > 4 || h.most < 1 ||
		h.most > 65535 {
		return errPNM
	}
	return nil
}

// bit reads a digit that is 0 or 1.
func bit(b *bufio.Reader) (int, error) {
	c, err := skip(b)
	if err == nil && c != '0' && c != '1' {
		err = errPNM
	}
	return int(c - '0'), err
}

// number reads a number in ASCII, and the one character behind it.
func number(b *bufio.Reader) (int, error) {
	c, err := skip(b)
	if err != nil {
		return 0, err
	}
	v := 0
	for ; c >= '0' && c <= '9' && v < 1<<30; c, err = b.ReadByte() {
		v = 10*v + int(c-'0')
		if err != nil {
			break
		}
	}
	if err == io.EOF {
		return v, nil
	}
	if err == nil && !strings.ContainsRune(" \t\r\n\v\f#", rune(c)) {
		err = errPNM
	}
	return v, err
}

// skip reads up to the next character that is neither white space nor in a comment.
func skip(b *bufio.Reader) (byte, error) {
	for {
		c, err := b.ReadByte()
		if err != nil {
			return 0, err
		}
		if c == '#' {
			if _, err := b.ReadString('\n'); err != nil {
				return 0, err
			}
			continue
		}
		if !strings.ContainsRune(" \t\r\n\v\f", rune(c)) {
			return c, nil
		}
	}
}
