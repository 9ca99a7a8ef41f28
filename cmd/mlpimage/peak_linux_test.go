package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMemoryPeak: a program takes no more memory than its limit, or than the estimate for a
// picture, but for what every run takes.
func TestMemoryPeak(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "mlpimage")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	const side, every = 2000, 48 << 20
	if err := os.WriteFile(filepath.Join(dir, "black.png"), bitPNG(side), 0o600); err != nil {
		t.Fatal(err)
	}
	zeros, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zeros.Close()
	train := "train black.png -o o.png --device cpu --encoding frequency --layers 1 --hidden 4 --batch 16 --steps 1 -q"
	for _, c := range []struct {
		line string
		most int64
		says string // "": it ends well
	}{
		{"info - --max-memory 300M", 300 << 20, "standard input: it has more than 150 MB, and the limit is 300 MB, of which what comes through a pipe may have half"},
		{"info /dev/zero --max-memory 200M", 0, "/dev/zero: it is no regular file but a device"},
		// 15 bytes a pixel: a float here, one on the device, one of what was learned, and a
		// quarter.
		{train + " --max-memory 10G", 15 * side * side, ""},
	} {
		cmd := exec.Command(program, strings.Fields(c.line)...)
		var said bytes.Buffer
		cmd.Dir, cmd.Stdin, cmd.Stderr = dir, zeros, &said
		err := cmd.Run()
		if c.says == "" && err != nil || !strings.Contains(said.String(), c.says) {
			t.Errorf("%s: %v: %s", c.line, err, said.String())
		}
		// Linux counts what the test itself held when it started the program.
		short := exec.Command(program, "version")
		if err := short.Run(); err != nil {
			t.Fatal(err)
		}
		most := max(c.most+every, peakOf(short)+every/4)
		if peak := peakOf(cmd); peak > most {
			t.Errorf("%s took %d MB, at most %d were to be", c.line, peak>>20, most>>20)
		} else {
			t.Logf("%s took %d MB of %d", c.line, peak>>20, most>>20)
		}
	}
}

// peakOf returns the most memory, in bytes, that a command had which has ended.
func peakOf(c *exec.Cmd) int64 {
	return int64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10
}
