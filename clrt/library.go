package clrt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// OpenCLEnv names the environment variable that holds the path of the OpenCL library to load, in place of the system's.
const OpenCLEnv = "CLGRAD_OPENCL_LIB"

// CheckLibrary returns an error that wraps ErrNoRuntime and names OpenCLEnv if that is the path of no file. A name
// without a slash is looked for when the library is loaded.
func CheckLibrary() error {
	path := os.Getenv(OpenCLEnv)
	if !strings.Contains(path, "/") {
		return nil
	}
	var missing *fs.PathError
	if _, err := os.Stat(path); errors.As(err, &missing) {
		return &Error{Call: "load OpenCL", Status: ErrNoRuntime, Detail: fmt.Sprintf("%s names the library %s: %v", OpenCLEnv, path, missing.Err)}
	}
	return nil
}
