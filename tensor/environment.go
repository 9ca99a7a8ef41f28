package tensor

import (
	"errors"
	"fmt"
	"os"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/environment"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels/cl"
)

func init() {
	environment.Register(SelfTestEnv, func() error {
		if v := os.Getenv(SelfTestEnv); v != "" && v != "on" && v != "off" {
			return fmt.Errorf("%s is %q: it may be on or off", SelfTestEnv, v)
		}
		return nil
	})
	environment.Register(VectorsEnv, vec.Check)
	environment.Register(cl.PathEnv, cl.CheckPath)
	environment.Register(clrt.OpenCLEnv, clrt.CheckLibrary)
	environment.Register(ops.TuningEnv, ops.CheckTuning)
}

// noLibrary reports whether an error is that the OpenCL library which the environment names cannot
// be loaded.
func noLibrary(err error) bool {
	return errors.Is(err, clrt.ErrNoRuntime) && os.Getenv(clrt.OpenCLEnv) != ""
}
