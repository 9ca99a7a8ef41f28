package clitest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

// Environment sets the variables of a script, whose programs see no others, up.
func Environment(env *testscript.Env) {
	for _, name := range []string{"CLGRAD_OPENCL_LIB", "OCL_ICD_VENDORS", "POCL_CACHE_DIR", "XDG_CACHE_HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			env.Setenv(name, v)
		}
	}
	// Scripts have no home; PoCL would build its kernels anew in each.
	if dir, err := os.UserCacheDir(); err == nil && os.Getenv("POCL_CACHE_DIR") == "" {
		if dir = filepath.Join(dir, "pocl", "kcache"); isFolder(dir) {
			env.Setenv("POCL_CACHE_DIR", dir)
		}
	}
	env.Setenv(tensor.DeviceEnv, "cpu")
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Interrupt is the command "interrupt SIGNAL": it signals the programs in the background after a second.
func Interrupt(ts *testscript.TestScript, neg bool, args []string) {
	time.Sleep(time.Second)
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}[args[0]]
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(sig))
	}
}

// NoLeftovers is the command "noleftovers [DIR]": no temporary file of a write is left in the folder.
func NoLeftovers(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(strings.Join(append(args, "."), "/")))
	ts.Check(err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && (!e.IsDir() || e.Name() != ".tmp") {
			ts.Fatalf("left behind: %s", e.Name())
		}
	}
}
