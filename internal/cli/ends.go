package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/clgrad/clgrad/internal/atomicfile"
)

// The exit codes.
const (
	ExitOK          = 0 // what was asked for is done
	ExitFailure     = 1
	ExitUsage       = 2 // nothing was done
	ExitInterrupted = 3 // what there is was written, and the rest is still to do
)

type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

type interruptedError struct{ error }

func (e *interruptedError) Unwrap() error { return e.error }

// Usage returns the error of a command line that cannot be carried out as written.
func Usage(err error) error { return &usageError{err} }

// Interrupted returns the error of a signal that came before the end. What it says of is written.
func Interrupted(err error) error { return &interruptedError{err} }

// exit says what went wrong, if anything did, and returns the code that the program ends with. The
// help of command says what can be typed.
func exit(program string, err error, command string, stderr io.Writer) int {
	var usage *usageError
	var interrupted *interruptedError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %s\nRun '%s --help' for usage.\n", program, plain(Sentence(err)), command)
		return ExitUsage
	case errors.As(err, &interrupted):
		fmt.Fprintf(stderr, "%s: %s\n", program, plain(Sentence(err)))
		return ExitInterrupted
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted\n", program)
		return ExitInterrupted
	}
	fmt.Fprintf(stderr, "%s: %s\n", program, plain(Sentence(err)))
	return ExitFailure
}

// oneSignal is how long a signal may take to come: programs such as timeout send it to a process
// and to its group.
const oneSignal = 500 * time.Millisecond

// interruptible returns a context that Ctrl-C, SIGTERM (a queue's end of time) and SIGHUP (a
// terminal that went away) cancel. A second Ctrl-C ends the program; further ones of the others do
// not, since queues and shells send several. SIGQUIT ends the program at once, with nothing
// written. From then on a reader that left standard error does not end the program either.
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
		s := <-quit
		atomicfile.Abandon()
		if s == os.Interrupt { // as if it had not been caught: a shell ends its loop, too
			signal.Reset(s)
			if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s) == nil {
				time.Sleep(oneSignal) // it comes before
			}
		}
		os.Exit(ExitFailure)
	}()
	go func() {
		<-signals
		cancel()
		time.Sleep(oneSignal)
		if !signal.Ignored(os.Interrupt) {
			signal.Notify(quit, os.Interrupt)
		}
	}()
	return ctx
}
