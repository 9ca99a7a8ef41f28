// Package clitest tests programs by what they print and leave behind.
package clitest

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devices"
	"github.com/clgrad/clgrad/tensor"
)

var update = flag.Bool("update", false, "write what the program says to testdata/messages.golden")

const golden = "testdata/messages.golden"

// Messages checks that a program, which this test binary is under that name, says what
// testdata/messages.golden holds, which is to be read as a whole.
//
// A line of that file that begins with "$ " is a command line, run in a folder that fill filled;
// what it prints and its exit code come after it. "opencl$ " is run in builds with OpenCL only,
// "plain$ " in those without. All else is a comment. To add a message, add the command line that
// provokes it and run
//
//	go test ./cmd/... -run TestMessages -update
func Messages(t *testing.T, program string, fill func(dir string) error) {
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	if err := fill(dir); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, program)); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+dir, "XDG_CACHE_HOME="+dir,
		"XDG_CONFIG_HOME="+dir, "LC_ALL=C", tensor.DeviceEnv+"=cpu")
	mark := "plain$ "
	if devices.OpenCLBuilt {
		mark = "opencl$ "
	}
	var got bytes.Buffer
	for _, block := range splitBlocks(string(text)) {
		line, expected, isCommand := cutCommand(block)
		command, here := strings.CutPrefix(line, "$ ")
		if !here {
			command, here = strings.CutPrefix(line, mark)
		}
		if !isCommand || !here {
			got.WriteString(block)
			continue
		}
		cmd := exec.Command("sh", "-c", command+"; echo \"[exit $?]\"")
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		said := steady(string(out), dir)
		got.WriteString(line + "\n" + said + "\n")
		if !*update && said != strings.TrimRight(expected, "\n")+"\n" {
			t.Errorf("$ %s\nsays\n%s\nwant (-update accepts the new words)\n%s", command, said, expected)
		}
	}
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var commandLine = regexp.MustCompile(`(?m)^(opencl|plain)?\$ `)

// splitBlocks cuts the text before each command line and each comment.
func splitBlocks(text string) []string {
	starts := regexp.MustCompile(`(?m)^((opencl|plain)?\$ |# )`).FindAllStringIndex(text, -1)
	var blocks []string
	for i, s := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		blocks = append(blocks, text[s[0]:end])
	}
	return blocks
}

func cutCommand(block string) (line, expected string, isCommand bool) {
	line, expected, _ = strings.Cut(block, "\n")
	return line, expected, commandLine.MatchString(line)
}

// steady replaces what differs from run to run or from machine to machine.
func steady(text, dir string) string {
	for _, r := range [][2]string{
		{regexp.QuoteMeta(dir), "DIR"},
		{`cpu \(Go, \d+ threads?\)`, "cpu (Go, N threads)"},
		{`PSNR [0-9.e+-]+ dB`, "PSNR N dB"},
		{`loss [0-9.e+-]+`, "loss N"},
		{`\d+ steps/s  ETA \w+`, "N steps/s  ETA T"},
		{`in [0-9.]+ s\b`, "in T s"},
		{`\d+ bytes, \d+ bits per pixel`, "N bytes, N bits per pixel"}, // of compressed weights
	} {
		text = regexp.MustCompile(r[0]).ReplaceAllString(text, r[1])
	}
	return text
}

// Words checks that nothing in testdata/messages.golden is in the words of a library.
func Words(t *testing.T) {
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	foreign := regexp.MustCompile(`(^|[ (])(imagefit|tensor|clrt|kernels|npz|npyio|zip|json|strconv|open|stat|read): |strconv|syntax|parsing|unmarshal|zip reader|%!|goroutine|panic`)
	for _, line := range strings.Split(string(text), "\n") {
		if word := foreign.FindString(line); word != "" && !strings.HasPrefix(line, "#") {
			t.Errorf("%q is no word for a person: %s", word, line)
		}
	}
}
