package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/clgrad/clgrad/internal/atomicfile"
)

// The exit codes.
const (
	exitOK          = 0 // what was asked for is done
	exitFailure     = 1
	exitUsage       = 2 // nothing was done
	exitInterrupted = 3 // what there is was written, and the rest is still to do
)

// usageError is a command line that cannot be carried out as written.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// interruptedError is a signal that came before the end. What it says of is written.
type interruptedError struct{ error }

func (e *interruptedError) Unwrap() error { return e.error }

// exit says what went wrong, if anything did, and returns the code that the program ends with. The help of command says
// what can be typed.
func exit(err error, command string, stderr io.Writer) int {
	var usage *usageError
	var interrupted *interruptedError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "mlpimage: %s\nRun '%s --help' for usage.\n", plain(sentence(err)), command)
		return exitUsage
	case errors.As(err, &interrupted):
		fmt.Fprintf(stderr, "mlpimage: %s\n", plain(sentence(err)))
		return exitInterrupted
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "mlpimage: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "mlpimage: %s\n", plain(sentence(err)))
	return exitFailure
}

// oneSignal is how long a signal may take to come: programs such as timeout send it to a process and to its group.
const oneSignal = 500 * time.Millisecond

// interruptible returns a context that Ctrl-C, SIGTERM (a queue's end of time) and SIGHUP (a terminal that went away)
// cancel. A second Ctrl-C ends the program; further ones of the others do not, since queues and shells send several.
// SIGQUIT ends the program at once, with nothing written. From then on a reader that left standard error does not end the program either.
func interruptible(parent context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup does
			signal.Notify(signals, s)
		}
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // what is notified of does not kill
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT) // or Go prints what every goroutine is at, and exits with 2
	go func() {
		<-quit
		atomicfile.Abandon()
		os.Exit(exitFailure)
	}()
	go func() {
		<-signals
		cancel()
		time.Sleep(oneSignal)
		signal.Reset(os.Interrupt)
	}()
	return ctx
}

// graceful is how long work that has nothing to lose yet may go on after a signal.
const graceful = 300 * time.Millisecond

// abandonable does work whose beginning cannot be interrupted: a driver that builds kernels, a large image that is hashed.
// Until the work calls begun, which says that there is something to write now, a signal makes abandonable return false
// soon; the work is left to the end of the program, which is to come at once. The work must share nothing with others.
func abandonable[T any](ctx context.Context, work func(begun func()) T) (result T, ok bool) {
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

// orLeave is abandonable for a whole command. The error of one that was left is that of ctx.
func orLeave(ctx context.Context, work func(begun func()) error) error {
	err, ok := abandonable(ctx, work)
	if !ok {
		return ctx.Err()
	}
	return err
}

// output is standard output. It remembers the first error: results that nobody got are a failure, whoever printed them.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err == nil {
		return n, nil
	}
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if o.err == nil {
		o.err = fmt.Errorf("cannot write to standard output: %w", err)
	}
	return n, o.err
}

// terminal reports whether a person would see what is written to standard output.
func (o *output) terminal() bool { return onTerminal(o.w) }
