package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/clgrad/clgrad/internal/atomicfile"
)

// writesForEver names the variable whose file this test binary writes without an end, as a program
// that Run runs.
const writesForEver = "CLGRAD_TEST_WRITES_FOR_EVER"

func TestMain(m *testing.M) {
	path := os.Getenv(writesForEver)
	if path == "" {
		os.Exit(m.Run())
	}
	interruptible(context.Background())
	_ = atomicfile.Write(path, func(io.Writer) error {
		fmt.Println("writing")
		time.Sleep(time.Minute)
		return errors.New("nobody ended it")
	})
}

// TestEndAtOnce: a second Ctrl-C, and SIGQUIT, end a program that does not end by itself, and leave
// no part of a file. A second SIGTERM does not.
func TestEndAtOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals []syscall.Signal
		killed  bool // as by a signal that was not caught
	}{
		{"Ctrl-C", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, true},
		{"SIGTERM, Ctrl-C", []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGINT}, true},
		{"SIGQUIT", []syscall.Signal{syscall.SIGQUIT}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), writesForEver+"="+filepath.Join(dir, "f"))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			for i, s := range c.signals {
				if i > 0 {
					time.Sleep(2 * oneSignal)
				}
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatalf("signal %d found it gone: %v", i, err)
				}
			}
			_ = cmd.Wait() // its state says more
			status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if c.killed && status.Signal() != syscall.SIGINT || !c.killed && status.ExitStatus() != ExitFailure {
				t.Errorf("ended with %v", cmd.ProcessState)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v (%v)", left, err)
			}
		})
	}
}
