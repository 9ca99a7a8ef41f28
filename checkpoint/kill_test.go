package checkpoint_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/clgrad/clgrad/checkpoint"
	"github.com/clgrad/clgrad/internal/devtest"
)

// childEnv names the file that the test program, run as a child, trains from and saves to after
// each step.
const childEnv = "CLGRAD_CHECKPOINT_TEST_CHILD"

const childSteps = 120

// TestChild is the program that TestKill kills.
func TestChild(t *testing.T) {
	path := os.Getenv(childEnv)
	if path == "" {
		t.Skip("for TestKill")
	}
	r := newRun(devtest.CPU(t), 1)
	if err := checkpoint.Load(path, r.parts()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	r.train(t, childSteps, func() {
		if err := checkpoint.Save(path, r.parts()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestKill: a program that is killed again and again, at any moment, leaves a whole checkpoint of
// one of its steps each time, and comes to the bits of one that was never stopped. What it left of
// files half written is removed by the next.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.safetensors")
	d := devtest.CPU(t)
	whole := newRun(d, 1)
	after := [][]byte{nil}
	whole.train(t, childSteps, func() { after = append(after, bytesOf(t, whole.parts())) })
	child := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
		cmd.Env = append(os.Environ(), childEnv+"="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	step := func() int {
		t.Helper()
		r := newRun(d, 1)
		if err := checkpoint.Load(path, r.parts()); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, after[r.progress.Step]) {
			t.Fatalf("the file of step %d is not that of the run that was never stopped (err %v)", r.progress.Step, err)
		}
		return r.progress.Step
	}
	last, kills := 0, 0
	for last < childSteps-20 && kills < 10 {
		before, _ := os.Stat(path)
		cmd := child()
		for range 10_000 { // until it has saved once more
			if now, err := os.Stat(path); err == nil && (before == nil || !os.SameFile(now, before) || now.ModTime() != before.ModTime()) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(rand.IntN(int(8 * time.Millisecond))))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		kills++
		now := step()
		if now <= last {
			t.Fatalf("at step %d, was at %d before", now, last)
		}
		last = now
	}
	if err := child().Wait(); err != nil {
		t.Fatal(err)
	}
	if now := step(); now != childSteps || kills < 2 {
		t.Errorf("%d steps were done and %d runs killed", now, kills)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%v are left (err %v)", entries, err)
	}
}
