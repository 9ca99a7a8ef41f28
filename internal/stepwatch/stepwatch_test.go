package stepwatch

import (
	"fmt"
	"testing"
)

// TestWatch: a watcher sees what its goroutine advances while it watches, and so does one inside of
// it.
func TestWatch(t *testing.T) {
	var seen, inner []any
	stop := Watch(func(s any) { seen = append(seen, s) })
	Notify(1)
	done := make(chan bool)
	go func() { Notify(2); close(done) }()
	<-done
	stopInner := Watch(func(s any) { inner = append(inner, s) })
	Notify(3)
	stopInner()
	Notify(4)
	stop()
	Notify(5)
	if got, want := fmt.Sprint(seen, inner), "[1 3 4] [3]"; got != want {
		t.Errorf("saw %s, want %s", got, want)
	}
	if watching.Load() != 0 || len(watchers) != 0 {
		t.Errorf("%d watchers left", len(watchers))
	}
}
