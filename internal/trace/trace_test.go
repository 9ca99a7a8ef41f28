package trace

import (
	"fmt"
	"strings"
	"testing"
)

type node struct{ version uint64 }

// TestDuring: what a goroutine calls is recorded, with its arguments as they were; another's calls are not.
func TestDuring(t *testing.T) {
	x, y := &node{1}, &node{2}
	axes := []int{0, 1}
	if On() {
		t.Error("it is on before")
	}
	kept := 0
	calls, layers := During(func() {
		if !On() {
			t.Error("it is off")
		}
		Record("Sum", []any{x, axes}, y)
		axes[0] = 9
		Record("To", []any{x}, x) // which changed nothing
		Enter("outer")
		Enter("inner")
		RecordOpaque("own", []any{y}, x)
		Leave(x)
		Leave(y, x)
		other := make(chan bool)
		go func() { other <- On() }()
		if <-other {
			t.Error("it is on in another goroutine")
		}
	}, func(result any) uint64 { return result.(*node).version }, func(any) { kept++ })
	if On() {
		t.Error("it is on behind")
	}
	if kept != 3 { // x, axes and y
		t.Errorf("%d arguments are kept", kept)
	}
	if len(calls) != 2 || calls[0].Op != "Sum" || calls[0].Opaque || calls[1].Op != "own" || !calls[1].Opaque {
		t.Fatalf("%+v", calls)
	}
	if got := fmt.Sprintf("%v", layers); got != fmt.Sprintf("[{outer %v 1 2 0} {inner %v 1 2 1}]", []any{y, x}, []any{x}) {
		t.Errorf("layers: %s", got)
	}
	c := calls[0]
	if c.Args[0] != x || c.Args[1].([]int)[0] != 0 || c.Results[0] != y || c.Version[0] != 2 {
		t.Errorf("%+v", c)
	}
	if !strings.HasPrefix(c.Place, "trace_test.go:") {
		t.Errorf("the place is %q", c.Place)
	}
}
