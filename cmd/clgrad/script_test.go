package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/clgrad/clgrad/internal/clitest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run clgrad as a program.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){program: main})
}

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	if raceEnabled {
		t.Skip("programs are slow with the detector, and these do one thing at a time")
	}
	// A signal that this process was started to ignore, by nohup perhaps, the programs under test
	// would ignore as well.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGTERM)
	// The scripts find the files of testdata/onnx.
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			clitest.Environment(env)
			if err := os.CopyFS(env.WorkDir, os.DirFS("../../testdata/onnx")); err != nil {
				return err
			}
			return writePictures(env.WorkDir)
		},
		Condition: func(cond string) (bool, error) {
			if cond == "opencl" {
				return len(devtest.Selected()) > 1, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"interrupt": clitest.Interrupt, "noleftovers": clitest.NoLeftovers,
		},
	})
}

// TestMessages: the program says what testdata/messages.golden holds.
func TestMessages(t *testing.T) {
	if raceEnabled {
		t.Skip("programs are slow with the detector, and these do one thing at a time")
	}
	clitest.Messages(t, program, func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "a.txt"), []byte("text\n"), 0o644)
	})
}

// TestMessageWords: nothing that the program says is in the words of a library.
func TestMessageWords(t *testing.T) { clitest.Words(t) }
