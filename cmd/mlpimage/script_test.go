package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/clitest"
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
	// A signal that this process was started to ignore, by nohup perhaps, the programs under test
	// would ignore as well. One that it handles is theirs to handle.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGTERM)
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal(err, len(scripts))
	}
	if raceEnabled {
		// Programs are twenty times slower with the detector. These do several things at once.
		scripts = nil
		for _, name := range []string{"batch", "http", "interrupt"} {
			scripts = append(scripts, "testdata/script/"+name+".txtar")
		}
	}
	testscript.Run(t, testscript.Params{
		Files: scripts,
		Setup: func(env *testscript.Env) error {
			clitest.Environment(env)
			return drawInputs(env.WorkDir)
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "opencl":
				return len(devtest.Selected()) > 1, nil
			case "more":
				return devtest.More(), nil
			case "mount":
				return mayMount(), nil
			case "root":
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"isimage": isImage, "kindof": kindOf, "jsonfield": jsonField, "interrupt": clitest.Interrupt, "killed": killed, "noleftovers": clitest.NoLeftovers,
			"smalldisk": smallDisk, "waitfor": waitFor,
		},
	})
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
	if err := drawOddInputs(dir); err != nil {
		return err
	}
	if err := picture("good.png", 24, 16); err != nil {
		return err
	}
	if err := picture("dot.png", 1, 1); err != nil {
		return err
	}
	other := image.NewNRGBA(image.Rect(0, 0, 24, 16))
	clear := image.NewNRGBA(image.Rect(0, 0, 20, 20)) // a disc on nothing
	deep := image.NewGray16(image.Rect(0, 0, 20, 10))
	for i := range 24 * 16 {
		other.SetNRGBA(i%24, i/24, color.NRGBA{uint8(i), 90, uint8(255 - i), 255})
	}
	for i := range 20 * 20 {
		if x, y := float64(i%20)-9.5, float64(i/20)-9.5; math.Hypot(x, y) < 8 {
			clear.SetNRGBA(i%20, i/20, color.NRGBA{220, 60, 30, 255})
		}
		deep.SetGray16(i%20, i/20, color.Gray16{uint16(i * 300)})
	}
	for name, img := range map[string]image.Image{"other.png": other, "clear.png": clear, "deep.png": deep} {
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, other, nil); err != nil {
		return err
	}
	// Orientation 6: to be turned a quarter to the right.
	exif := "\xff\xe1\x00\x22Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"
	upright := append([]byte{}, b.Bytes()[:2]...)
	upright = append(append(upright, exif...), b.Bytes()[2:]...)
	if err := os.WriteFile(filepath.Join(dir, "upright.jpg"), upright, 0o644); err != nil {
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

// smallDisk DIR SIZE: mounts a disk of that many bytes, which ends with the script.
func smallDisk(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	ts.Check(mountTmpfs(dir, args[1]))
	ts.Defer(func() { _ = exec.Command("umount", dir).Run() })
}

func mountTmpfs(dir, size string) error {
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mount: %w: %s", err, out)
	}
	return nil
}

// mayMount reports whether disks can be mounted here: that takes root, and a machine that lets it.
var mayMount = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "mlpimage-mount-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if mountTmpfs(dir, "64k") != nil {
		return false
	}
	return exec.Command("umount", dir).Run() == nil
})

// isImage FILE WIDTH HEIGHT: the file is a whole PNG or JPEG of that size.
func isImage(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	img, _, err := image.Decode(f)
	ts.Check(err)
	if got := fmt.Sprint(img.Bounds().Dx(), img.Bounds().Dy()); got != args[1]+" "+args[2] {
		ts.Fatalf("%s is %s", args[0], got)
	}
}

// kindOf FILE KIND: the PNG has this kind of pixels.
func kindOf(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	img, err := png.Decode(f)
	ts.Check(err)
	kind := map[string]string{"*image.Gray16": "gray16", "*image.Gray": "gray", "*image.NRGBA": "rgba", "*image.RGBA": "rgb"}[fmt.Sprintf("%T", img)]
	if kind != args[1] {
		ts.Fatalf("%s holds a %T", args[0], img)
	}
}

// killed COUNT CHECKPOINT PROGRAM ARGS...: starts the program COUNT times and kills it, as kill -9
// does, after a random time. After each, the checkpoint must be whole if it is there, and the steps
// that it has done must not go back. From then on the program is run with --resume, unless it
// resumes by itself (batch).
func killed(ts *testscript.TestScript, neg bool, args []string) {
	count, err := strconv.Atoi(args[0])
	ts.Check(err)
	seed := time.Now().UnixNano()
	ts.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	checkpoint, steps, found := ts.MkAbs(args[1]), 0, 0
	start := func(line []string) *exec.Cmd {
		// The program's own folder comes first on the script's path.
		cmd := exec.Command(filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], line[0]), line[1:]...)
		cmd.Dir, cmd.Env = ts.MkAbs("."), append(os.Environ(), tensor.DeviceEnv+"=cpu")
		ts.Check(cmd.Start())
		return cmd
	}
	kill := func(cmd *exec.Cmd) {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
	// How long the program takes to its first checkpoint says when to kill it.
	begun, first := time.Now(), start(args[2:])
	for !exists(checkpoint) && time.Since(begun) < time.Minute {
		time.Sleep(time.Millisecond)
	}
	ready := time.Since(begun)
	kill(first)
	for i := range count {
		line := args[2:]
		if line[1] == "train" && exists(checkpoint) {
			line = append(slices.Clone(line), "--resume", checkpoint)
		}
		cmd := start(line)
		time.Sleep(time.Duration(r.Int64N(int64(2*ready + 100*time.Millisecond))))
		kill(cmd)
		saved, err := imagefit.ReadCheckpoint(checkpoint)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			ts.Fatalf("after kill %d: %v", i, err)
		}
		if saved.Steps < steps {
			ts.Fatalf("after kill %d: %d steps, there were %d", i, saved.Steps, steps)
		}
		steps = saved.Steps
		found++
	}
	ts.Logf("%d of %d kills left a checkpoint, the last of step %d", found, count, steps)
	if found == 0 {
		ts.Fatalf("none of %d kills left a checkpoint", count)
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

// waitFor FILE TEXT: waits until the file has that in it.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && strings.Contains(string(text), args[1]) {
			return
		}
	}
	ts.Fatalf("%s has no %q after a minute", args[0], args[1])
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
