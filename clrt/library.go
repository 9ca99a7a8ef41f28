package clrt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// OpenCLEnv names the environment variable that holds the path of the OpenCL library to load, in
// place of the system's.
const OpenCLEnv = "CLGRAD_OPENCL_LIB"

// CheckLibrary returns an error that wraps ErrNoRuntime and names OpenCLEnv if that is the path of
// no file, or of a folder. A name without a slash is looked for when the library is loaded.
func CheckLibrary() error {
	path := os.Getenv(OpenCLEnv)
	if !strings.Contains(path, "/") {
		return nil
	}
	info, err := os.Stat(path)
	if missing := (*fs.PathError)(nil); errors.As(err, &missing) {
		err = missing.Err
	} else if info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err != nil {
		return &Error{Call: "load OpenCL", Status: ErrNoRuntime, Detail: fmt.Sprintf("%s names the library %s: %v", OpenCLEnv, path, err)}
	}
	return nil
}
