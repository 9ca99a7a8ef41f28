package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

var update = flag.Bool("update", false, "write what the program says to testdata/messages.golden")

// TestMessages: the program says what testdata/messages.golden holds, which is to be read as a whole.
//
// A line of that file that begins with "$ " is a command line, run in a folder with the pictures of drawInputs; what it
// prints and its exit code come after it. "opencl$ " is run in builds with OpenCL only, "plain$ " in those without. All
// else is a comment. To add a message, add the command line that provokes it and run
//
//	go test ./cmd/mlpimage -run TestMessages -update
func TestMessages(t *testing.T) {
	if raceEnabled {
		t.Skip("a hundred programs, slow with the detector, that do one thing at a time")
	}
	const golden = "testdata/messages.golden"
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	if err := drawInputs(dir); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "mlpimage")); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+dir, "XDG_CACHE_HOME="+dir,
		"XDG_CONFIG_HOME="+dir, "LC_ALL=C", tensor.DeviceEnv+"=cpu")
	mark := "plain$ "
	if openCLBuilt {
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
	} {
		text = regexp.MustCompile(r[0]).ReplaceAllString(text, r[1])
	}
	return text
}

// TestMessageWords: nothing that the program says is in the words of a library.
func TestMessageWords(t *testing.T) {
	text, err := os.ReadFile("testdata/messages.golden")
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
