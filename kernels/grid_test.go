package kernels

import "testing"

// TestGrids: a launch has a work-item for each element, in whole work-groups that the device takes and no more than the
// elements need.
func TestGrids(t *testing.T) {
	small, large := Limits{MaxGroup: 64}, Limits{MaxGroup: 1024}
	for _, c := range []struct {
		name string
		got  Grid
		want Grid
	}{
		{"no element", Line(0, large), Grid{1, [3]int{0}, [3]int{256}}},
		{"one element", Line(1, large), Grid{1, [3]int{256}, [3]int{256}}},
		{"whole groups", Line(512, large), Grid{1, [3]int{512}, [3]int{256}}},
		{"one more", Line(513, large), Grid{1, [3]int{768}, [3]int{256}}},
		{"small groups", Line(65, small), Grid{1, [3]int{128}, [3]int{64}}},
		{"one by one", Plane(1, 1, large), Grid{2, [3]int{1, 1}, [3]int{1, 1}}},
		{"none by some", Plane(0, 5, large), Grid{2, [3]int{0, 8}, [3]int{1, 8}}},
		{"some by none", Plane(5, 0, large), Grid{2, [3]int{8, 0}, [3]int{8, 1}}},
		{"powers of two", Plane(8, 4, large), Grid{2, [3]int{8, 4}, [3]int{8, 4}}},
		{"more than powers of two", Plane(9, 5, large), Grid{2, [3]int{16, 8}, [3]int{16, 8}}},
		{"a group", Plane(16, 16, large), Grid{2, [3]int{16, 16}, [3]int{16, 16}}},
		{"a narrow plane", Plane(2, 1000, large), Grid{2, [3]int{2, 1024}, [3]int{2, 128}}},
		{"a wide plane", Plane(1000, 3, large), Grid{2, [3]int{1024, 3}, [3]int{256, 1}}},
		{"small groups of a plane", Plane(9, 9, small), Grid{2, [3]int{16, 12}, [3]int{16, 4}}},
		{"groups of one", Groups(3, 4), Grid{2, [3]int{3, 4}, [3]int{1, 1}}},
		{"per element", PerElement(1)([]Arg{I(7), Vec(nil, 0, 300)}, large), Line(300, large)},
		{"per int", PerInt(0)([]Arg{I(300), Vec(nil, 0, 7)}, large), Line(300, large)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
	for _, c := range []struct {
		grid  Grid
		empty bool
	}{{Line(0, large), true}, {Line(1, large), false}, {Plane(0, 3, large), true}, {Plane(3, 0, large), true}, {Groups(1, 1), false},
		{Grid{3, [3]int{1, 1, 0}, [3]int{1, 1, 1}}, true}, {Grid{3, [3]int{1, 1, 1}, [3]int{1, 1, 1}}, false}} {
		if c.grid.Empty() != c.empty {
			t.Errorf("%+v: empty %v", c.grid, c.grid.Empty())
		}
	}
}

// TestIntArgument: an int of a kernel has 32 bits, and no other passes for one.
func TestIntArgument(t *testing.T) {
	for _, v := range []int{0, 1, -1, 1<<31 - 1, -1 << 31} {
		if got := I(v); got.Kind != ArgInt || int(got.Int) != v {
			t.Errorf("I(%d) = %+v", v, got)
		}
	}
	if got := Bits(1<<32 - 1); got.Kind != ArgInt || got.Int != -1 {
		t.Errorf("Bits of ones: %+v", got)
	}
	if Flag(true).Int != 1 || Flag(false).Int != 0 {
		t.Error("a flag is not 1 or 0")
	}
	if big := int64(1) << 31; int64(int(big)) == big {
		defer func() {
			if recover() == nil {
				t.Error("2³¹ passed for an int32")
			}
		}()
		I(int(big))
	}
}
