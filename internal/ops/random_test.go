package ops

import "testing"

// TestSeed: both words of a seed key the stream.
func TestSeed(t *testing.T) {
	if lo, hi := Seed(0xfedcba98_00000007); uint32(lo.Int) != 7 || uint32(hi.Int) != 0xfedcba98 {
		t.Errorf("words %#x and %#x", uint32(lo.Int), uint32(hi.Int))
	}
}
