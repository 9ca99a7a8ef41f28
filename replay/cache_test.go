package replay_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestCache: a recording for each set of shapes and types, with the bits of the eager step for views, no elements and
// rank 0 too; the least recently used is freed.
func TestCache(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		called := 0
		f := func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(3).Tanh() }
		c := replay.NewCache(d, func(in []*tensor.Tensor) ([]*tensor.Tensor, error) {
			called++
			return []*tensor.Tensor{f(in[0])}, nil
		}, replay.CacheOptions{Max: 3})
		defer c.Free()
		base := tensor.New(d, []float32{0.1, -0.2, 0.3, 0.4, 0.5, -0.6}, 2, 3)
		for round, x := range []*tensor.Tensor{
			base, base.T(), base.MulScalar(2), base.MulScalar(-1).T(), base.Reshape(6), // three shapes
			base.T(),                                    // found
			tensor.Full(d, 0.25), tensor.Zeros(d, 0, 3), // two are freed
			tensor.Full(d, 0.5),
			base, // recorded again
		} {
			out, err := c.Run(x)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := out[0].Float64s()
			want, _ := f(x).Float64s()
			if fmt.Sprint(got, out[0].Shape()) != fmt.Sprint(want, x.Shape()) {
				t.Errorf("%d: %v, want %v", round, got, want)
			}
		}
		if s := c.Stats(); s != (replay.CacheStats{Hits: 4, Records: 6, Evictions: 3, Kept: 3}) || called != 12 || len(c.Recordings()) != 3 {
			t.Errorf("%+v, called %d times", s, called)
		}
		half, err := c.Run(base.To(tensor.BFloat16))
		if err != nil || half[0].Type() != tensor.BFloat16 {
			t.Errorf("another type: %v, %v", half, err)
		}
	})
}

// TestCacheErrors: what cannot be run is refused by name, leaves the cache as it was, and is tried again.
func TestCacheErrors(t *testing.T) {
	d, other := devtest.Open(t, "cpu", tensor.Options{}), devtest.Open(t, "cpu", tensor.Options{})
	c := replay.NewCache(d, func(in []*tensor.Tensor) ([]*tensor.Tensor, error) {
		if v, err := in[0].Sum().Item(); err != nil || v > 1 {
			return nil, err
		}
		return in, nil
	}, replay.CacheOptions{})
	gone := tensor.Full(d, 1, 2)
	gone.Free()
	for _, k := range []struct {
		name string
		x    *tensor.Tensor
		want error
	}{
		{"nil", nil, tensor.ErrValue}, {"freed", gone, tensor.ErrFreed}, {"elsewhere", tensor.Full(other, 1, 2), tensor.ErrDevice},
		{"a read on the host", tensor.Full(d, 1, 2), replay.ErrHostRead},
	} {
		if _, err := c.Run(k.x); !errors.Is(err, k.want) {
			t.Errorf("%s: %v, want %v", k.name, err, k.want)
		}
	}
	if s := c.Stats(); s != (replay.CacheStats{}) {
		t.Errorf("%+v", s)
	}
	c.Free()
	c.Free()
	if _, err := c.Run(tensor.Full(d, 1, 2)); !errors.Is(err, replay.ErrReleased) {
		t.Error(err)
	}
	for name, f := range map[string]func(){
		"no step": func() { replay.NewCache(d, nil, replay.CacheOptions{}) },
		"negative": func() {
			replay.NewCache(d, func([]*tensor.Tensor) ([]*tensor.Tensor, error) { return nil, nil }, replay.CacheOptions{Max: -1})
		},
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A recording for each shape of a batch.
func ExampleCache() {
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	c := replay.NewCache(d, func(inputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
		return []*tensor.Tensor{inputs[0].Square().Sum()}, nil
	}, replay.CacheOptions{Max: 4})
	defer c.Free()
	for _, n := range []int{2, 3, 2} {
		out, err := c.Run(tensor.Full(d, 2, n))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(out[0].Item())
	}
	fmt.Printf("%+v\n", c.Stats())
	// Output:
	// 8 <nil>
	// 12 <nil>
	// 8 <nil>
	// {Hits:1 Records:2 Evictions:0 Kept:2}
}
