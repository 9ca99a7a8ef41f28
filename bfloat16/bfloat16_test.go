package bfloat16_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/bfloat16"
)

func Example() {
	fmt.Println(bfloat16.FromFloat32(3.14159).Float32())
	// Output: 3.140625
}

// The results of PyTorch 2.13: torch.tensor(x).bfloat16().
func TestRounding(t *testing.T) {
	for bits, want := range map[uint32]bfloat16.BFloat16{
		0x3f800000: 0x3f80, 0x3f807fff: 0x3f80, 0x3f808000: 0x3f80, 0x3f808001: 0x3f81, 0x3f818000: 0x3f82, 0xbf818000: 0xbf82,
		0: 0, 0x80000000: 0x8000, 1: 0, 0x00008001: 1, 0x00018000: 2, 0x7f7f7fff: 0x7f7f, 0x7f7f8000: 0x7f80, 0xff7fffff: 0xff80,
		0x7f800000: 0x7f80, 0xff800000: 0xff80, 0x7f800001: 0x7fc0, 0xffffffff: 0x7fc0,
	} {
		if got := bfloat16.FromFloat32(math.Float32frombits(bits)); got != want {
			t.Errorf("%#x is %#x, want %#x", bits, got, want)
		}
	}
}

func TestEveryNumberIsKept(t *testing.T) {
	for i := range 1 << 16 {
		b := bfloat16.BFloat16(i)
		if f := b.Float32(); f == f && bfloat16.FromFloat32(f) != b || f != f && !math.IsNaN(float64(bfloat16.FromFloat32(f).Float32())) {
			t.Fatalf("%#x is %v, and that %#x", i, f, bfloat16.FromFloat32(f))
		}
	}
}
