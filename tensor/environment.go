package tensor

import (
	"errors"
	"fmt"
	"os"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/kernels"
)

// checkEnvironment returns an error that names the first environment variable with a value that it cannot have. A value
// that were ignored would be a setting that somebody believes in.
func checkEnvironment() error {
	if v := os.Getenv(TrialEnv); v != "" && v != "on" && v != "off" {
		return fmt.Errorf("tensor: open: %s is %q: it may be on or off", TrialEnv, v)
	}
	if err := kernels.CheckPath(); err != nil {
		return fmt.Errorf("tensor: open: %w", err)
	}
	if err := clrt.CheckLibrary(); err != nil {
		return fmt.Errorf("tensor: open: %w", err)
	}
	return nil
}

// noLibrary reports whether an error is that the OpenCL library which the environment names cannot be loaded.
func noLibrary(err error) bool {
	return errors.Is(err, clrt.ErrNoRuntime) && os.Getenv(clrt.OpenCLEnv) != ""
}
