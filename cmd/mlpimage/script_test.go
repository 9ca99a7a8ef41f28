package main

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run mlpimage as a program.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mlpimage": main})
}

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// The children of a script see only these variables.
			for _, name := range []string{"CLGRAD_OPENCL_LIB", "OCL_ICD_VENDORS", "POCL_CACHE_DIR", "XDG_CACHE_HOME"} {
				if v, ok := os.LookupEnv(name); ok {
					env.Setenv(name, v)
				}
			}
			// Scripts have no home; PoCL would build its kernels anew in each.
			if dir, err := os.UserCacheDir(); err == nil && os.Getenv("POCL_CACHE_DIR") == "" {
				if dir = filepath.Join(dir, "pocl", "kcache"); exists(dir) {
					env.Setenv("POCL_CACHE_DIR", dir)
				}
			}
			env.Setenv(tensor.DeviceEnv, "cpu")
			return drawInputs(env.WorkDir)
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "opencl":
				return len(devtest.Selected()) > 1, nil
			case "root":
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"isimage": isImage, "jsonfield": jsonField, "interrupt": interrupt, "noleftovers": noLeftovers,
		},
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// drawInputs writes the pictures that scripts train on, good and bad.
func drawInputs(dir string) error {
	picture := func(name string, width, height int) error {
		img := image.NewNRGBA(image.Rect(0, 0, width, height))
		for y := range height {
			for x := range width {
				img.SetNRGBA(x, y, color.NRGBA{uint8(255 * x / width), uint8(255 * y / height), 128, 255})
			}
		}
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		defer f.Close()
		return png.Encode(f, img)
	}
	if err := picture("good.png", 24, 16); err != nil {
		return err
	}
	if err := picture("dot.png", 1, 1); err != nil {
		return err
	}
	whole, err := os.ReadFile(filepath.Join(dir, "good.png"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "cut.png"), whole[:len(whole)*2/3], 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "empty.png"), nil, 0o644)
}

// isImage FILE WIDTH HEIGHT: the file is a whole PNG of that size.
func isImage(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	img, err := png.Decode(f)
	ts.Check(err)
	if got := fmt.Sprint(img.Bounds().Dx(), img.Bounds().Dy()); got != args[1]+" "+args[2] {
		ts.Fatalf("%s is %s", args[0], got)
	}
}

// jsonField NAME OP VALUE: compares a field of the JSON object in the last line of stdout.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	var result map[string]any
	ts.Check(json.Unmarshal([]byte(lines[len(lines)-1]), &result))
	got, ok := result[args[0]]
	if !ok {
		ts.Fatalf("no field %q", args[0])
	}
	if args[1] == "is" {
		if fmt.Sprint(got) != args[2] {
			ts.Fatalf("%s is %v, want %s", args[0], got, args[2])
		}
		return
	}
	want, err := strconv.ParseFloat(args[2], 64)
	ts.Check(err)
	number, ok := got.(float64)
	if !ok || math.IsNaN(number) || args[1] == ">" && !(number > want) {
		ts.Fatalf("%s is %v, want %s %v", args[0], got, args[1], want)
	}
}

// interrupt SIGNAL: signals the programs in the background after a second of training.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	time.Sleep(time.Second)
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[0]]
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(sig))
	}
}

// noLeftovers: no temporary file of a write is left in the folder.
func noLeftovers(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs("."))
	ts.Check(err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			ts.Fatalf("left behind: %s", e.Name())
		}
	}
}
