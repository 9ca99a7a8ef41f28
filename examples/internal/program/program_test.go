package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"
)

// TestMain makes a program of a few lines a command of scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"plain": func() {
			n := pflag.Int("number", 3, "`what` is printed")
			Main("plain", func() error {
				if *n < 0 {
					return fmt.Errorf("tensor: open: %d is below 0", *n)
				}
				fmt.Println(*n)
				return nil
			})
		},
		"needs": func() {
			pflag.String("from", "", "a `file`")
			pflag.String("to", "", "another `file`")
			pflag.Int("number", 3, "a `number`")
			Main("needs", func() error { return nil }, "from", "to")
		},
		"waits": func() {
			Interruptible("waits", func(ctx context.Context) error {
				self, err := os.FindProcess(os.Getpid())
				if err != nil {
					return err
				}
				if err := self.Signal(os.Interrupt); err != nil {
					return err
				}
				<-ctx.Done()
				return errors.New("interrupted")
			})
		},
	})
}

// TestScripts: what a program with a flag says of its command line, and how it ends.
func TestScripts(t *testing.T) { testscript.Run(t, testscript.Params{Dir: "testdata/script"}) }
