package ops

import (
	"fmt"
	"testing"
)

// TestPhilox holds the generator against the known answers of its authors' kat_vectors.
func TestPhilox(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    string
	}{
		{[4]uint32{}, [2]uint32{}, "[6627e8d5 e169c58d bc57ac4c 9b00dbd8]"},
		{[4]uint32{^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)}, [2]uint32{^uint32(0), ^uint32(0)}, "[408f276d 41c83b0e a20bc7c6 6d5451fd]"},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, "[d16cfe09 94fdcceb 5001e420 24126ea1]"},
	} {
		if got := fmt.Sprintf("%08x", Philox(c.counter, c.key)); got != c.want {
			t.Errorf("Philox(%x, %x) = %s, want %s", c.counter, c.key, got, c.want)
		}
	}
}

// TestSeed: both words of a seed key the stream.
func TestSeed(t *testing.T) {
	if lo, hi := Seed(0xfedcba98_00000007); uint32(lo.Int) != 7 || uint32(hi.Int) != 0xfedcba98 {
		t.Errorf("words %#x and %#x", uint32(lo.Int), uint32(hi.Int))
	}
}
