package scalar

import (
	"errors"
	"math"
	"testing"
)

type item float64

func (i item) Item() (float64, error) {
	if i < 0 {
		return 0, errors.New("lost")
	}
	return float64(i), nil
}

// TestRead: numbers of all kinds are read, a Scalar before its own kind, and nothing else is one.
func TestRead(t *testing.T) {
	type named int8
	for _, c := range []struct {
		v     any
		want  any
		float float64
	}{
		{3, int64(3), 3}, {int8(-3), int64(-3), -3}, {named(4), int64(4), 4}, {uint8(200), uint64(200), 200}, {uint64(math.MaxUint64), uint64(math.MaxUint64), 1 << 64},
		{float32(0.5), 0.5, 0.5}, {math.Inf(-1), math.Inf(-1), math.Inf(-1)}, {item(7), 7.0, 7},
	} {
		got, err := Read(c.v)
		if !Is(c.v) || got != c.want || err != nil {
			t.Errorf("%T %v: %v, %v", c.v, c.v, got, err)
		}
		if f, err := Float(c.v); f != c.float || err != nil {
			t.Errorf("%T %v: %v, %v", c.v, c.v, f, err)
		}
	}
	if _, err := Float(item(-1)); err == nil {
		t.Error("no error of Item")
	}
	for _, v := range []any{nil, "1", true, []int{1}, complex(1, 1), new(int)} {
		if Is(v) {
			t.Errorf("%T is a number", v)
		}
	}
}
