package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func say(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

// holdsText fails the test unless the file holds the text.
func holdsText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
	}
}

// alone fails the test unless the folder has so many entries.
func alone(t *testing.T, dir string, count int) {
	t.Helper()
	if entries, _ := os.ReadDir(dir); len(entries) != count {
		t.Errorf("the folder holds %v, want %d entries", entries, count)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := Write(path, say("one")); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := Write(path, func(w io.Writer) error { io.WriteString(w, "half"); return boom })
	if file := new(Error); !errors.Is(err, boom) || errors.As(err, &file) {
		t.Errorf("err = %v", err)
	}
	holdsText(t, path, "one")
	if err := Write(path, say("two")); err != nil {
		t.Fatal(err)
	}
	holdsText(t, path, "two")
	alone(t, dir, 1)
	none := filepath.Join(dir, "no", "such")
	for _, err := range []error{Write(none, say("x")), Check(none)} {
		if file := new(Error); !errors.As(err, &file) || file.Path != none || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("into a folder that does not exist: %v", err)
		}
	}
	for _, err := range []error{Write(dir, say("x")), Check(dir)} {
		if !errors.Is(err, syscall.EISDIR) {
			t.Errorf("to a folder: %v", err)
		}
	}
	if err := Write(os.DevNull, say("x")); err != nil {
		t.Errorf("to %s: %v", os.DevNull, err)
	}
}

// TestGone: the temporary file goes when write panics, and when the file cannot be replaced in the
// end.
func TestGone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	func() {
		defer func() {
			if r := recover(); r != "misuse" {
				t.Errorf("recovered %v", r)
			}
		}()
		_ = Write(path, func(io.Writer) error { panic("misuse") })
	}()
	alone(t, dir, 0)
	err := Write(path, func(io.Writer) error { return os.Mkdir(path, 0o777) })
	if file := new(Error); !errors.As(err, &file) || file.Path != path {
		t.Errorf("to a path that becomes a folder: %v", err)
	}
	alone(t, dir, 1)
}

// TestFullDevice: an error of the device is the file's, even one that comes only with the last
// byte.
func TestFullDevice(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skipf("there is no %s", full)
	}
	for _, size := range []int{1, 1 << 20} {
		err := Write(full, say(strings.Repeat("x", size)))
		if file := new(Error); !errors.As(err, &file) || !errors.Is(err, syscall.ENOSPC) || err.Error() != "cannot write /dev/full: no space left on device" {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestMode: a new file has the permissions that the umask leaves, an old one keeps its own.
func TestMode(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	mode := func(want fs.FileMode) {
		t.Helper()
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("mode %v (%v), want %v", info.Mode(), err, want)
		}
	}
	if err := Write(path, say("x")); err != nil {
		t.Fatal(err)
	}
	mode(0o640)
	if err := os.Chmod(path, 0o604); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, say("y")); err != nil {
		t.Fatal(err)
	}
	mode(0o604)
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := Check(path); os.Geteuid() != 0 && !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that may not be written to: %v", err)
	}
}

// TestOwner: root that replaces a user's file leaves it the user's.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 1234, 2345), Write(path, say("x"))); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 1234 || s.Gid != 2345 {
		t.Errorf("the file is %d:%d's", s.Uid, s.Gid)
	}
}

// TestLinks: the file that a link leads to is replaced or made, beside itself, and links stay.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.MkdirAll(at("far/deep"), 0o777), os.WriteFile(at("far/old"), []byte("old"), 0o666), os.Symlink("far/old", at("there")),
		os.Symlink("there", at("twice")), os.Symlink("far/new", at("dangling")), os.Symlink("far/deep", at("folder")),
		os.Symlink("folder/../up", at("above")), os.Symlink("loop", at("loop")), os.Link(at("far/old"), at("hard")))
	if err != nil {
		t.Fatal(err)
	}
	for link, file := range map[string]string{"there": "far/old", "twice": "far/old", "dangling": "far/new", "above": "far/up"} {
		if err := Check(at(link)); err != nil {
			t.Error(err)
		}
		if err := Write(at(link), say(link)); err != nil {
			t.Error(err)
		}
		holdsText(t, at(file), link)
		if info, err := os.Lstat(at(link)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", link)
		}
	}
	holdsText(t, at("hard"), "old")
	alone(t, at("far"), 4)
	for _, err := range []error{Check(at("loop")), Write(at("loop"), say("x"))} {
		if err == nil || !strings.Contains(err.Error(), "too many links") {
			t.Errorf("a link to itself: %v", err)
		}
	}
}

// TestAboveLink: "link/.." is the folder above the link's target, for the temporary file too: the
// link's own folder may be one that cannot be written to, or on another disk.
func TestAboveLink(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(at("far/deep"), 0o777), os.Mkdir(at("near"), 0o777), os.Symlink("../far/deep", at("near/folder")),
		os.Symlink("folder/../linked", at("near/link"))); err != nil {
		t.Fatal(err)
	}
	for path, file := range map[string]string{at("near") + "/folder/../f": "far/f", at("near/link"): "far/linked"} {
		err := errors.Join(Check(path), Write(path, func(w io.Writer) error {
			alone(t, at("near"), 2) // the temporary file is not here
			_, err := io.WriteString(w, file)
			return err
		}))
		if err != nil {
			t.Error(err)
		}
		holdsText(t, at(file), file)
	}
}

// TestNoRegularFile: a link to a pipe that has no name is written to as it stands, as in -o
// /dev/stdout | program.
func TestNoRegularFile(t *testing.T) {
	const fds = "/dev/fd/"
	if _, err := os.Stat(fds); err != nil {
		t.Skipf("there is no %s", fds)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := fmt.Sprint(fds, w.Fd())
	if err := errors.Join(Check(path), Write(path, say("x")), w.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "x" {
		t.Errorf("the pipe holds %q (%v)", got, err)
	}
}

// TestLongNames: names may be as long as the file system takes; longer ones are an error before any
// work.
func TestLongNames(t *testing.T) {
	const most = 255
	dir := t.TempDir()
	for _, name := range []string{strings.Repeat("n", most), strings.Repeat("ä", most/2)} {
		path := filepath.Join(dir, name)
		if err := errors.Join(Check(path), Write(path, say("x"))); err != nil {
			t.Errorf("%d bytes: %v", len(name), err)
		}
	}
	path := filepath.Join(dir, strings.Repeat("n", most+1))
	for _, err := range []error{Check(path), Write(path, say("x"))} {
		if !errors.Is(err, syscall.ENAMETOOLONG) {
			t.Errorf("%d bytes: %v", most+1, err)
		}
	}
	alone(t, dir, 2)
}

// childEnv names the file that the test program, run as a child, writes until it is killed.
const childEnv = "ATOMICFILE_TEST_CHILD"

func TestMain(m *testing.M) {
	path := os.Getenv(childEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	_ = Write(path, func(w io.Writer) error {
		os.Stdout.WriteString("writing\n")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	})
}

// TestAbandon: a program that ends while it writes leaves nothing but the file as it was.
func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	err := Write(path, func(w io.Writer) error {
		alone(t, dir, 1)
		Abandon()
		alone(t, dir, 0)
		return nil
	})
	if err == nil {
		t.Error("what was abandoned was written")
	}
	if err := Write(path, say("x")); err != nil {
		t.Fatal(err)
	}
	Abandon()
	holdsText(t, path, "x")
}

// TestSticky: a file of another user in a folder such as /tmp cannot be replaced, whatever its
// permissions. That is known before any work.
func TestSticky(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777|fs.ModeSticky), os.WriteFile(path, nil, 0o666), os.Chmod(path, 0o666)); err != nil {
		t.Fatal(err)
	}
	const user = 1234
	check := func(owner int) error {
		if err := os.Chown(path, owner, -1); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Seteuid(user); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Seteuid(0) }()
		return Check(path)
	}
	if err := check(0); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file of another: %v", err)
	}
	if err := check(user); err != nil {
		t.Errorf("a file of one's own: %v", err)
	}
}

// TestKilled: what a program left that was killed is removed by the next that writes the same path;
// what one that runs is still writing is not, nor is anything of another path.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "f"), filepath.Join(dir, "g")
	start := func(path string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+path)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stdin.Close() })
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, len("writing\n"))); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	kill := func(cmd *exec.Cmd) {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	first, second := start(path), start(other)
	kill(first)
	kill(second)
	running := start(path)
	alone(t, dir, 3)
	if err := errors.Join(Check(path), Write(path, say("x"))); err != nil {
		t.Fatal(err)
	}
	alone(t, dir, 3) // the file, what is left of the other, and what is being written
	kill(running)
	if err := errors.Join(Check(path), Check(other)); err != nil {
		t.Fatal(err)
	}
	alone(t, dir, 1)
	holdsText(t, path, "x")
}

// TestAtOnce: programs that write one path at once, each making sure first that nothing is left,
// all succeed.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if err := errors.Join(Check(path), Write(path, say("whole"))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	holdsText(t, path, "whole")
	alone(t, dir, 1)
}
