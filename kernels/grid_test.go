package kernels

import "testing"

// TestGrids: a launch has a work-item for each element, in whole work-groups that the device takes
// and no more than the elements need.
func TestGrids(t *testing.T) {
	small, large := Target{MaxGroup: 64}, Target{MaxGroup: 1024}
	for _, c := range []struct {
		name string
		got  Grid
		want Grid
	}{
		{"no element", Grid1D(0, large), Grid{1, [3]int{0}, [3]int{256}}},
		{"one element", Grid1D(1, large), Grid{1, [3]int{256}, [3]int{256}}},
		{"whole groups", Grid1D(512, large), Grid{1, [3]int{512}, [3]int{256}}},
		{"one more", Grid1D(513, large), Grid{1, [3]int{768}, [3]int{256}}},
		{"small groups", Grid1D(65, small), Grid{1, [3]int{128}, [3]int{64}}},
		{"one by one", Grid2D(1, 1, large), Grid{2, [3]int{1, 1}, [3]int{1, 1}}},
		{"none by some", Grid2D(0, 5, large), Grid{2, [3]int{0, 8}, [3]int{1, 8}}},
		{"some by none", Grid2D(5, 0, large), Grid{2, [3]int{8, 0}, [3]int{8, 1}}},
		{"powers of two", Grid2D(8, 4, large), Grid{2, [3]int{8, 4}, [3]int{8, 4}}},
		{"more than powers of two", Grid2D(9, 5, large), Grid{2, [3]int{16, 8}, [3]int{16, 8}}},
		{"a group", Grid2D(16, 16, large), Grid{2, [3]int{16, 16}, [3]int{16, 16}}},
		{"a narrow plane", Grid2D(2, 1000, large), Grid{2, [3]int{2, 1024}, [3]int{2, 128}}},
		{"a wide plane", Grid2D(1000, 3, large), Grid{2, [3]int{1024, 3}, [3]int{256, 1}}},
		{"small groups of a plane", Grid2D(9, 9, small), Grid{2, [3]int{16, 12}, [3]int{16, 4}}},
		{"groups of one", Groups(3, 4), Grid{2, [3]int{3, 4}, [3]int{1, 1}}},
		{"per element", GridPerElement(1)([]Arg{IntArg(7), BufferArg(nil, 0, 300)}, large), Grid1D(300, large)},
		{"per int", GridFromArg(0)([]Arg{IntArg(300), BufferArg(nil, 0, 7)}, large), Grid1D(300, large)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
	for _, c := range []struct {
		grid  Grid
		empty bool
	}{{Grid1D(0, large), true}, {Grid1D(1, large), false}, {Grid2D(0, 3, large), true}, {Grid2D(3, 0, large), true}, {Groups(1, 1), false},
		{Grid{3, [3]int{1, 1, 0}, [3]int{1, 1, 1}}, true}, {Grid{3, [3]int{1, 1, 1}, [3]int{1, 1, 1}}, false}} {
		if c.grid.Empty() != c.empty {
			t.Errorf("%+v: empty %v", c.grid, c.grid.Empty())
		}
	}
}

// TestIntArgument: an int of a kernel has 32 bits, and no other passes for one.
func TestIntArgument(t *testing.T) {
	for _, v := range []int{0, 1, -1, 1<<31 - 1, -1 << 31} {
		if got := IntArg(v); got.Kind != ArgInt || int(got.Int) != v {
			t.Errorf("I(%d) = %+v", v, got)
		}
	}
	if got := BitsArg(1<<32 - 1); got.Kind != ArgInt || got.Int != -1 {
		t.Errorf("Bits of ones: %+v", got)
	}
	if FlagArg(true).Int != 1 || FlagArg(false).Int != 0 {
		t.Error("a flag is not 1 or 0")
	}
	if big := int64(1) << 31; int64(int(big)) == big {
		defer func() {
			if recover() == nil {
				t.Error("2³¹ passed for an int32")
			}
		}()
		IntArg(int(big))
	}
}
