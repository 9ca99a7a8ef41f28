package cli

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestAbandonable: a signal ends work that has nothing to lose, however long it would continue, and
// no other.
func TestAbandonable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		defer close(never)
		ctx, cancel := context.WithCancel(t.Context())
		if got, ok := Abandonable(ctx, func(func()) int { return 1 }); got != 1 || !ok {
			t.Errorf("without a signal: %d, %v", got, ok)
		}
		cancel()
		if _, ok := Abandonable(ctx, func(func()) int { <-never; return 1 }); ok {
			t.Error("work that had not begun was waited for")
		}
		if got, ok := Abandonable(ctx, func(begun func()) int { begun(); time.Sleep(2 * graceful); return 2 }); got != 2 || !ok {
			t.Errorf("work that had begun: %d, %v", got, ok)
		}
		if got, ok := Abandonable(ctx, func(func()) int { time.Sleep(graceful / 10); return 3 }); got != 3 || !ok {
			t.Errorf("work that saw the signal by itself: %d, %v", got, ok)
		}
	})
}
