package clitest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
	// Scripts have no home; PoCL would rebuild its kernels in each.
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

// Interrupt is the command "interrupt INT|TERM|HUP": it sends a signal to the programs in the
// background, when each is at work: it has computed for a second, or it waits.
func Interrupt(ts *testscript.TestScript, neg bool, args []string) {
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}[args[0]]
	for _, cmd := range ts.BackgroundCmds() {
		atWork(cmd.Process.Pid)
		ts.Check(cmd.Process.Signal(sig))
	}
}

// atWork waits until a process has had a second of processor time, or none for a second. On systems
// without /proc it waits a second.
func atWork(pid int) {
	const poll, second = 100 * time.Millisecond, 100 // of the clock that /proc counts in
	for last, idle := -1, 0; idle < 10; {
		time.Sleep(poll)
		used := processorTime(pid)
		if used >= second {
			return
		}
		if used == last {
			idle++
		} else {
			last, idle = used, 0
		}
	}
}

// processorTime returns the processor time of a process in hundredths of a second, 0 where it is
// not known.
func processorTime(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return user + system
}

// NoLeftovers is the command "noleftovers [DIR]": no temporary file of a write is left in the
// folder.
func NoLeftovers(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(strings.Join(append(args, "."), "/")))
	ts.Check(err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && (!e.IsDir() || e.Name() != ".tmp") {
			ts.Fatalf("left behind: %s", e.Name())
		}
	}
}
