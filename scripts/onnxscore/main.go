// Onnxscore runs the backend tests of the ONNX project, and prints those that fail by cause and the score.
//
//	go run ./scripts/onnxscore [-device cpu] [-run REGEX] [-v] FOLDER-OR-ARCHIVE
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/onnxtest"
	"github.com/clgrad/clgrad/onnx"
	_ "github.com/clgrad/clgrad/onnx/imagedecoder"
	"github.com/clgrad/clgrad/tensor"
)

func main() {
	device := flag.String("device", "cpu", "the `device`, as tensor.Open names it")
	run := flag.String("run", "", "only cases whose name matches a `regular expression`")
	verbose := flag.Bool("v", false, "print each case")
	flag.Parse()
	if err := score(*device, *run, *verbose, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "onnxscore:", err)
		os.Exit(1)
	}
}

func score(device, run string, verbose bool, tests string) error {
	filter, err := regexp.Compile(run)
	if err != nil {
		return err
	}
	info, err := os.Stat(tests)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		dir, err := os.MkdirTemp("", "onnxscore")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if out, err := exec.Command("tar", "-xf", tests, "-C", dir).CombinedOutput(); err != nil {
			return fmt.Errorf("tar -xf %s: %w: %s", tests, err, out)
		}
		tests = dir
	}
	cases, err := onnxtest.Cases(tests)
	if err != nil {
		return err
	}
	d, err := tensor.Open(device)
	if err != nil {
		return err
	}
	defer d.Close()
	passed, total := 0, 0
	failed := map[string][]string{}
	for _, c := range cases {
		if !filter.MatchString(c.Name) {
			continue
		}
		total++
		err := runCase(d, c)
		if verbose {
			fmt.Printf("%s: %v\n", c.Name, err)
		}
		if err == nil {
			passed++
			continue
		}
		cause := causeOf(err.Error())
		failed[cause] = append(failed[cause], c.Name)
		if d.Err() != nil { // it takes nothing any more
			d.Close()
			if d, err = tensor.Open(device); err != nil {
				return err
			}
		}
	}
	causes := make([]string, 0, len(failed))
	for cause := range failed {
		causes = append(causes, cause)
	}
	slices.SortFunc(causes, func(a, b string) int {
		if n := len(failed[b]) - len(failed[a]); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for _, cause := range causes {
		fmt.Printf("%d: %s\n", len(failed[cause]), cause)
		for _, name := range failed[cause] {
			fmt.Printf("    %s\n", filepath.ToSlash(name))
		}
	}
	fmt.Printf("passed %d of %d, failed %d, skipped 0\n", passed, total, total-passed)
	return nil
}

// runCase runs a case. A panic is a failure of it, too.
func runCase(d tensor.Device, c onnxtest.Case) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	tensor.Scope(d, func() { err = c.Run(d, onnx.Options{}) })
	return err
}

var places = regexp.MustCompile(`node \d+ \((\S+), which makes "[^"]*"\)|node "[^"]*" \((\S+)\)`)

// causeOf returns the first line that says something of an error, with the operator in place of the node.
func causeOf(message string) string {
	message = places.ReplaceAllString(message, "$1$2")
	if _, list, ok := strings.Cut(message, "not supported:\n  "); ok {
		first, _, _ := strings.Cut(list, "\n")
		return "not supported: " + first
	}
	first, _, _ := strings.Cut(message, "\n")
	return first
}
