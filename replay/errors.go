package replay

import (
	"errors"
	"fmt"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/tensor"
)

// Why a step cannot be recorded, or a recording not be run, for errors.Is. Besides these, there are
// tensor.ErrFreed, tensor.ErrDevice, tensor.ErrGoroutine, tensor.ErrIndex and tensor.ErrValue.
var (
	ErrDiffers   = errors.New("the two runs of the step differ")
	ErrHostRead  = capture.ErrHostRead
	ErrUpload    = errors.New("the step writes to an older tensor from the host")
	ErrUnwritten = errors.New("the step reads what it has not written")
	ErrRecording = capture.ErrRecording
	ErrReleased  = errors.New("the recording was freed")
	// ErrEnvironment is a word in the variable [Env] that means nothing.
	ErrEnvironment = errors.New("bad environment variable")
)

func fault(op string, kind error, format string, args ...any) error {
	return &tensor.Error{Pkg: "replay", Op: op, Kind: kind, Detail: fmt.Sprintf(format, args...)}
}
