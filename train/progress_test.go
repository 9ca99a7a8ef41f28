package train

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/clgrad/clgrad/tensor"
)

// clock is a time that tests set.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

// counted is a Scalar that counts how often it is read.
type counted struct {
	value float64
	err   error
	reads int
}

func (c *counted) Item() (float64, error) { c.reads++; return c.value, c.err }

// TestProgressLines: where there is no terminal there is a line every few seconds and one at the end, and
// only then is the loss read.
func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	p := newProgress(&out, 100, c.now, []ProgressOptions{{Name: "epoch 2"}})
	loss := &counted{value: 0.123456}
	for i := range 100 {
		c.t = c.t.Add(100 * time.Millisecond)
		loss.value = 1 / float64(i+1)
		p.Step("loss", loss, "rate", 0.001, "epoch", 2)
	}
	for range 2 {
		if err := p.Done(); err != nil {
			t.Fatal(err)
		}
	}
	want := `epoch 2: step 50/100  loss 0.02  rate 0.001  epoch 2  10 steps/s  ETA 5s
epoch 2: step 100/100  loss 0.01  rate 0.001  epoch 2  10 steps/s  10s
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if loss.reads != 2 {
		t.Errorf("the loss was read %d times", loss.reads)
	}
}

// TestProgressEnds: loops of no step, of an unknown number, of more steps than were said, and those that
// return early.
func TestProgressEnds(t *testing.T) {
	for _, c := range []struct {
		steps, done int
		want        string
	}{
		{0, 0, "step 0/0  0s\n"},
		{3, 0, "step 0/3  0s\n"},
		{Unknown, 0, "step 0  0s\n"},
		{Unknown, 3, "step 3  1 steps/s  3s\n"},
		{-7, 8, "step 5  loss NaN  1 steps/s\nstep 8  loss NaN  1 steps/s  8s\n"},
		{2, 1, "step 1/2  1 steps/s  1s\n"},
		{2, 3, "step 3/2  loss NaN  1 steps/s  3s\n"},
	} {
		var out bytes.Buffer
		clock := &clock{time.Unix(0, 0)}
		p := newProgress(&out, c.steps, clock.now, nil)
		for range c.done {
			clock.t = clock.t.Add(time.Second)
			p.Step("loss", math.NaN())
		}
		if err := p.Done(); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != c.want {
			t.Errorf("%d of %d steps: %q, want %q", c.done, c.steps, got, c.want)
		}
	}
}

// TestProgressFails: the error of a value that cannot be read is that of Done, and the loop is shown on.
func TestProgressFails(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	p := newProgress(&out, 2, c.now, []ProgressOptions{{Every: time.Nanosecond}})
	lost := errors.New("the device is lost")
	for range 2 {
		c.t = c.t.Add(time.Second)
		p.Step("loss", &counted{err: lost})
	}
	if err := p.Done(); err != lost {
		t.Errorf("Done returned %v", err)
	}
	if got := out.String(); got != "step 1/2  1 steps/s  ETA 1s\nstep 2/2  1 steps/s  2s\n" {
		t.Errorf("%q", got)
	}
}

// TestPairs: what is no name and number is named.
func TestPairs(t *testing.T) {
	p := NewProgress(&bytes.Buffer{}, Unknown)
	for _, c := range []struct {
		values []any
		words  string
	}{
		{[]any{"loss"}, "1 values"},
		{[]any{1.5, "loss"}, "value 0 is 1.5"},
		{[]any{"", 1.5}, "value 0"},
		{[]any{"loss", "1.5"}, `"loss" is a string`},
		{[]any{"loss", nil}, `"loss" is a <nil>`},
		{[]any{"loss", []float64{1}}, "tensor or a node of one element"},
		{[]any{"loss", 1, "loss", 2}, "twice"},
	} {
		err := tensor.Try(func() { p.Step(c.values...) })
		if !errors.Is(err, tensor.ErrValue) || !strings.Contains(fmt.Sprint(err), c.words) {
			t.Errorf("%v: %v, want %q", c.values, err, c.words)
		}
	}
}
