package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/clgrad/clgrad/clrt"
)

// TestSentence: what libraries say of themselves is left out, what a file is called is not.
func TestSentence(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "imagefit: x.png", Err: syscall.ENOENT}
	_, number := strconv.Atoi("many")
	for want, err := range map[string]error{
		"imagefit: x.png: no such file or folder":                missing,
		"twice imagefit: x.png: no such file or folder":          fmt.Errorf("imagefit: read: twice %w", missing),
		"cannot write a.png: no such file or folder":             fmt.Errorf("cannot write a.png: %w", &fs.PathError{Op: "open", Path: ".a.png.123", Err: syscall.ENOENT}),
		"write a.png: permission denied":                         fmt.Errorf("write a.png: %w", &os.LinkError{Op: "rename", Old: ".a.png.12", New: "a.png", Err: syscall.EACCES}),
		`bad size: "many" is not a number`:                       fmt.Errorf("tensor: bad size: %w", number),
		"a.npz: no such file or folder":                          fmt.Errorf("data: load %s: %w", "a.npz", &fs.PathError{Op: "open", Path: "a.npz", Err: syscall.ENOENT}),
		"b: not a checkpoint: too short":                         fmt.Errorf("checkpoint: load b: %w", fmt.Errorf("not a checkpoint: %w", errors.New("safetensors: too short"))),
		`the dict has no "w"`:                                    errors.New(`nn: load: the dict has no "w"`),
		"one\ntwo":                                               errors.Join(errors.New("npz: one"), errors.New("two")),
		"no OpenCL platform: install one":                        fmt.Errorf("tensor: open: %w", &clrt.Error{Call: "clGetPlatformIDs", Status: clrt.ErrNoPlatform, Detail: "install one"}),
		`there is no OpenCL device "radeon": there is cpu`:       &clrt.Error{Call: `select "radeon"`, Status: clrt.ErrNoDevice, Detail: "there is cpu"},
		"clFinish failed with CL_OUT_OF_RESOURCES (-5) on a GPU": &clrt.Error{Call: "clFinish", Status: clrt.OutOfResources, Device: "a GPU"},
	} {
		if got := Sentence(err); got != want {
			t.Errorf("%q becomes %q, want %q", err, got, want)
		}
	}
}

// TestDidYouMean: a slip is mended, another word is not.
func TestDidYouMean(t *testing.T) {
	names := []string{"train", "tune", "render", "steps", "lr"}
	for typed, want := range map[string]string{"tain": "train", "trian": "train", "tun": "tune", "stpes": "steps", "rendre": "render", "x": "", "paint": "", "photo": ""} {
		guess := DidYouMean("", typed, names)
		if want != "" {
			want = ": did you mean " + want + "?"
		}
		if guess != want {
			t.Errorf("%q: %q, want %q", typed, guess, want)
		}
	}
}
