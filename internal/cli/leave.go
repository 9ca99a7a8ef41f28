package cli

import (
	"context"
	"sync"
	"time"
)

// graceful is how long work that has nothing to lose yet may continue after a signal.
const graceful = 300 * time.Millisecond

// Abandonable does work whose beginning cannot be interrupted: a driver that builds kernels, a
// large image that is hashed. Until the work calls begun, which says that there is something to
// write now, a signal makes Abandonable return false soon; the work is left to the end of the
// program, which is to come at once. The work must share nothing with others.
func Abandonable[T any](ctx context.Context, work func(begun func()) T) (result T, ok bool) {
	began, done := make(chan struct{}), make(chan T, 1)
	go func() { done <- work(sync.OnceFunc(func() { close(began) })) }()
	select {
	case result = <-done:
		return result, true
	case <-ctx.Done():
	}
	late := time.After(graceful) // most work sees the signal by itself
	select {
	case result = <-done:
		return result, true
	case <-began:
		return <-done, true
	case <-late:
		return result, false
	}
}

// OrLeave is Abandonable for a whole command. The error of one that was left is that of ctx.
func OrLeave(ctx context.Context, work func(begun func()) error) error {
	err, ok := Abandonable(ctx, work)
	if !ok {
		return ctx.Err()
	}
	return err
}
