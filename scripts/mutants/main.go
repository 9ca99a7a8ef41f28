// Mutants makes small faults in the packages of the engine, one at a time, and runs the tests on
// each: a mutant that every test passes shows a line that no test holds to anything. gremlins makes
// the mutants.
//
// Those that change nothing that a caller can see are listed in docs/mutants.md with the reason.
// Any other survivor, and an entry of that list that no longer survives, is printed and ends the
// program with code 1. All packages take hours of two cores; a file takes minutes.
//
//	go run ./scripts/mutants [-timeout D] [PACKAGE | PACKAGE/FILE.go]...
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

const (
	gremlins = "github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0"
	module   = "github.com/clgrad/clgrad/"
	known    = "docs/mutants.md"
)

// mutations are the kinds of mutants, without invert-negatives: arithmetic-base makes those, too.
var mutations = []string{"arithmetic-base", "conditionals-boundary", "conditionals-negation", "increment-decrement",
	"invert-assignments", "invert-bitwise", "invert-bwassign", "invert-logical", "invert-loopctrl", "remove-self-assignments"}

// packages lists what is mutated and the packages whose tests may kill the mutants, in that order.
var packages = []struct{ name, tests string }{
	{"nn", "nn"},
	{"optim", "optim"},
	{"data", "data"},
	{"checkpoint", "checkpoint"},
	{"autograd", "autograd optim nn"},
	{"tensor", "tensor autograd optim nn"},
	{"kernels", "kernels internal/ops internal/selftestargs kerneltest autograd tensor optim nn"},
	{"internal/ops", "internal/ops internal/selftestargs autograd tensor optim nn"},
	{"internal/selftestargs", "internal/selftestargs tensor"},
	{"internal/mempool", "internal/mempool"},
	{"internal/safetensors", "internal/safetensors tensor nn"},
	{"internal/intmath", "kernels internal/ops"},
	{"internal/boolmath", "internal/boolmath kernels"},
	{"internal/parallel", "internal/parallel kernels"},
	{"internal/compare", "internal/compare"},
	{"internal/convert", "internal/convert"},
}

// slow lists tests that take longer than all others of their package: they see what these leave
// alive.
var slow = map[string]string{
	"tensor":   "^(TestInferenceWithoutScope|TestThreadsAreFixedAtOpen)$",
	"autograd": "^(TestDeepChain|TestDeepSecondGradient)$",
}

//go:embed go.sh
var goScript []byte

func main() {
	timeout := flag.Duration("timeout", 60e9, "time for the tests of one package, after which a mutant is dead")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, flag.Args(), timeout.String())
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, targets []string, timeout string) (ok bool, err error) {
	list, err := readKnown()
	if err != nil {
		return false, err
	}
	for _, t := range targets {
		if _, err := os.Stat(t); err != nil {
			return false, fmt.Errorf("%s is neither a package nor a file of one; run this in the top folder of the repository", t)
		}
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	env, err := prepare(dir, timeout)
	if err != nil {
		return false, err
	}
	ok = true
	for _, p := range packages {
		files, err := filesOf(p.name, targets)
		if err != nil {
			return false, err
		}
		if len(files) == 0 {
			continue
		}
		results, err := mutate(ctx, dir, p.name, p.tests, files, env)
		if err != nil {
			return false, fmt.Errorf("%s: %w", p.name, err)
		}
		fine, err := report(filepath.Join(dir, "src"), p.name, files, results, list)
		if err != nil {
			return false, err
		}
		ok = ok && fine
	}
	return ok, nil
}

// prepare copies the files that git does not ignore, installs gremlins and the script beside the
// copy, and returns the environment.
func prepare(dir, timeout string) ([]string, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return nil, err
	}
	names, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "-z").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(dir, "src", name), name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	bin := filepath.Join(dir, "bin")
	// Thousands of mutants are compiled: that is for a cache of its own, which goes with the build
	// folder.
	cache, err := filepath.Abs(".build/mutants")
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), "GOBIN="+bin, "GOCACHE="+cache, "CGO_ENABLED=0", "CLGRAD_TEST_DEVICES=cpu", "NO_COLOR=1", "TMPDIR="+dir,
		"MUTANTS_GO="+goTool, "MUTANTS_TIMEOUT="+timeout, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	install := exec.Command(goTool, "install", gremlins)
	install.Env, install.Stderr = env, os.Stderr
	if err := install.Run(); err != nil {
		return nil, fmt.Errorf("go install %s: %w", gremlins, err)
	}
	return env, os.WriteFile(filepath.Join(bin, "go"), goScript, 0o755)
}

func copyFile(to, from string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}

// filesOf returns the files of a package that the Go device builds and the targets name; no targets
// name all.
func filesOf(pkg string, targets []string) ([]string, error) {
	list := exec.Command("go", "list", "-f", "{{join .GoFiles \"\\n\"}}", "./"+pkg)
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pkg, err)
	}
	var files []string
	for _, name := range strings.Fields(string(out)) {
		wanted := func(t string) bool { t = path.Clean(filepath.ToSlash(t)); return t == pkg || t == pkg+"/"+name }
		if len(targets) == 0 || slices.ContainsFunc(targets, wanted) {
			files = append(files, name)
		}
	}
	return files, nil
}

// mutant is one line of gremlins' report.
type mutant struct {
	Type, Status string
	Line, Column int
}

// mutate runs gremlins on files of a package and returns the mutants of each.
func mutate(ctx context.Context, dir, pkg, tests string, files, env []string) (map[string][]mutant, error) {
	var first, last, covered []string
	for _, t := range strings.Fields(tests) {
		if s := slow[t]; s != "" {
			first = append(first, "-skip="+s, module+t)
			last = append(last, "-run="+s, module+t)
		} else {
			first = append(first, "-skip=^$", module+t)
		}
	}
	for _, f := range files {
		covered = append(covered, module+pkg+"/"+f)
	}
	src, output := filepath.Join(dir, "src"), filepath.Join(dir, strings.ReplaceAll(pkg, "/", "-")+".json")
	args := []string{"unleash", "./" + pkg, "--workers", "1", "--timeout-coefficient", "100", "--output", output,
		"--output-statuses", "lt", "--invert-negatives=false"}
	for _, m := range mutations {
		args = append(args, "--"+m)
	}
	entries, err := os.ReadDir(pkg)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !slices.Contains(files, e.Name()) {
			args = append(args, "--exclude-files", "^"+regexp.QuoteMeta(e.Name())+"$")
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "bin", "gremlins"), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir, cmd.Stdout, cmd.Stderr = src, os.Stdout, os.Stderr
	cmd.Env = append(slices.Clone(env), "MUTANTS_STEPS="+strings.Join(append(first, last...), " "), "MUTANTS_FILES="+strings.Join(covered, " "))
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(output)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // these files have nothing to mutate
	}
	if err != nil {
		return nil, err
	}
	var out struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []mutant
		}
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("the report of gremlins: %w", err)
	}
	results := map[string][]mutant{}
	for _, f := range out.Files {
		results[f.Name] = f.Mutations
	}
	return results, nil
}

// report prints the score of a package and what is not as the list has it, and says whether all is.
func report(root, pkg string, files []string, results map[string][]mutant, list map[string]int) (ok bool, err error) {
	ok = true
	killed, lived, listed := 0, 0, 0
	for _, f := range files {
		name := pkg + "/" + f
		src, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return false, err
		}
		lines := strings.Split(string(src), "\n")
		left := map[string]int{}
		for key, n := range list {
			if strings.HasPrefix(key, name+" ") {
				left[key] = n
			}
		}
		for _, m := range results[f] {
			switch m.Status {
			case "KILLED", "TIMED OUT":
				killed++
			case "LIVED", "NOT COVERED":
				lived++
				key, all := name+" "+show(m, lines[m.Line-1]), name+" any `"+strings.TrimLeft(lines[m.Line-1], "\t")+"`"
				if left[key] > 0 {
					left[key]--
					listed++
					continue
				}
				if _, ok := left[all]; ok {
					left[all] = 0
					listed++
					continue
				}
				ok = false
				fmt.Printf("%s:%d: alive: %s\n", name, m.Line, show(m, lines[m.Line-1]))
			}
		}
		for key, n := range left {
			if n > 0 {
				ok = false
				fmt.Printf("%s: dead or gone, yet in %s: %s\n", name, known, strings.TrimPrefix(key, name+" "))
			}
		}
	}
	if killed+lived > 0 {
		fmt.Printf("%s: %d of %d mutants dead (%.1f %%), %d alive as listed, %d alive\n", pkg, killed, killed+lived,
			100*float64(killed)/float64(killed+lived), listed, lived-listed)
	}
	return ok, nil
}

// show names a mutant in a way that outlives changes of other lines: its kind, and the line with a
// mark before the operator.
func show(m mutant, line string) string {
	kind := strings.ToLower(strings.ReplaceAll(m.Type, "_", "-"))
	return fmt.Sprintf("%s `%s‸%s`", kind, strings.TrimLeft(line[:m.Column-1], "\t"), line[m.Column-1:])
}

var knownLine = regexp.MustCompile("^- ([a-z-]+ `.*?‸.*?`|any `.*?`): ")

// readKnown reads the list: headings name files, and items mutants as show writes them, or any of a
// line, with the reason.
func readKnown() (map[string]int, error) {
	text, err := os.ReadFile(known)
	if err != nil {
		return nil, err
	}
	list, file := map[string]int{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if rest, ok := strings.CutPrefix(line, "### "); ok {
			file = strings.Trim(rest, "`")
		} else if m := knownLine.FindStringSubmatch(line); m != nil {
			list[file+" "+m[1]]++
		} else if strings.HasPrefix(line, "- ") && file != "" {
			return nil, fmt.Errorf("%s: not a kind of mutant or any, a line in backquotes, a colon and a reason: %s", known, line)
		}
	}
	return list, nil
}
