package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"chars": main}) }

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	exampletest.Long(t)
	exampletest.Scripts(t, func(folder string) error { return os.WriteFile(folder+"/cycle.txt", []byte(cycle), 0o644) })
}

// cycle is a text that is soon known by heart.
var cycle = strings.Repeat("the cat sat. ", 60)

// small sets sizes that train in no time, and gives the text a file.
func small(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(cycle), 0o644); err != nil {
		t.Fatal(err)
	}
	exampletest.Set(t, text, path)
	exampletest.Set(t, width, 16)
	exampletest.Set(t, heads, 2)
	exampletest.Set(t, window, 8)
	exampletest.Set(t, batch, 8)
	exampletest.Set(t, every, time.Hour)
}

// TestLearns: a text that goes in a circle is foreseen, and gone on with.
func TestLearns(t *testing.T) {
	exampletest.Long(t)
	small(t)
	exampletest.Set(t, steps, 150)
	exampletest.Set(t, rate, 1e-2)
	exampletest.Set(t, length, 26)
	alphabet, numbers, err := read(*text)
	if err != nil {
		t.Fatal(err)
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		net := newModel(d, len(alphabet))
		if step, err := net.train(context.Background(), d, numbers[:600]); err != nil || step <= 0 {
			t.Fatalf("%v a step, err %v", step, err)
		}
		// The first letters of a piece do not say where in the circle it is.
		loss, accuracy, err := net.test(d, numbers[600:])
		if err != nil || loss > 0.3 || accuracy < 0.9 {
			t.Errorf("loss %v, accuracy %v, err %v", loss, accuracy, err)
		}
		for _, heat := range []float64{0, 0.1} {
			*temperature = heat
			if said, err := net.write(d, alphabet, numbers[4]); err != nil || said != "at sat. the cat sat. the c" {
				t.Errorf("at temperature %v it writes %q, err %v", heat, said, err)
			}
		}
		*temperature = 1e9 // all characters are as likely as each other
		if said, err := net.write(d, alphabet, numbers[0]); err != nil || strings.Contains(said, "the") {
			t.Errorf("it writes %q, err %v", said, err)
		}
	})
}

// TestPyTorch: from PyTorch's weights, what is written and the losses are those of scripts/examples/chars.py.
func TestPyTorch(t *testing.T) {
	exampletest.Set(t, width, 32)
	exampletest.Set(t, window, 16)
	exampletest.Set(t, batch, 8)
	exampletest.Set(t, rate, 3e-3)
	exampletest.Set(t, length, 40)
	exampletest.Set(t, temperature, 0)
	alphabet, numbers, err := read("testdata/opticks.txt")
	if err != nil {
		t.Fatal(err)
	}
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		net := newModel(d, len(alphabet))
		losses, inputs := exampletest.PyTorch(t, d, "chars", net, "starts", "written")
		written, err := inputs["written"].Int32s()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := net.write(d, alphabet, numbers[0]); err != nil || got != string(written) {
			t.Errorf("it writes %q, PyTorch %q, err %v", got, string(written), err)
		}
		starts, err := inputs["starts"].Int32s()
		if err != nil {
			t.Fatal(err)
		}
		exampletest.Follow(t, losses, newOptimizer(net), 1e-5, func(i int) *autograd.Node {
			var at []int
			for _, start := range starts[i**batch : (i+1)**batch] {
				at = append(at, int(start))
			}
			x, y := pieces(d, numbers, at)
			return autograd.CrossEntropy(net.Forward(x, nil).Flatten(0, 1), y)
		})
	})
}

// TestKill: a run that is killed and interrupted again and again ends with the bits of one that was not.
func TestKill(t *testing.T) {
	exampletest.Long(t)
	small(t)
	dir := t.TempDir()
	start := func(name string, options ...string) (*exec.Cmd, *bytes.Buffer) {
		options = append(options, "--text", *text, "--device", "cpu", "--width", "16", "--heads", "2", "--context", "8",
			"--batch", "8", "--steps", "150", "--write", "5", "--checkpoint", filepath.Join(dir, name))
		cmd, said := exec.Command("chars", options...), &bytes.Buffer{}
		cmd.Stderr = said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, said
	}
	if cmd, said := start("whole"); cmd.Wait() != nil {
		t.Fatal(said)
	}
	killed, interrupted := 0, 0
	for i := 0; ; i++ {
		cmd, said := start("stopped", "--every", "1ns") // a checkpoint after each step
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		before, _ := os.Stat(filepath.Join(dir, "stopped"))
		for saved := 0; saved < 3 && len(done) == 0; {
			if now, err := os.Stat(filepath.Join(dir, "stopped")); err == nil && (before == nil || !os.SameFile(now, before)) {
				before, saved = now, saved+1
			}
			time.Sleep(time.Millisecond)
		}
		stop := os.Kill
		if i%3 == 1 {
			stop = os.Interrupt
		} else if i > 4 {
			stop = nil // to its end
		}
		if stop != nil {
			_ = cmd.Process.Signal(stop)
		}
		err := <-done
		switch {
		case err == nil && stop != nil:
			t.Fatalf("it came to its end after %d stops", i)
		case err == nil:
			if whole, stopped := contents(t, dir, "whole"), contents(t, dir, "stopped"); !bytes.Equal(whole, stopped) {
				t.Error("the weights of a run that was stopped differ from those of one that was not")
			}
			if killed < 2 || interrupted < 1 {
				t.Errorf("%d runs were killed, %d interrupted", killed, interrupted)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
				t.Errorf("%v are left, err %v", left, err)
			}
			return
		case stop == os.Kill:
			killed++
		case stop == os.Interrupt && strings.Contains(said.String(), "chars: interrupted after step "):
			interrupted++
		default:
			t.Fatalf("%v: %s", err, said)
		}
	}
}

func contents(t *testing.T, dir, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
