package samefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder returns a folder with a file, links of all kinds to it and to its folder, and links to
// nothing.
func folder(t *testing.T) string {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.Mkdir(at("d"), 0o777), os.WriteFile(at("d/file"), nil, 0o666), os.WriteFile(at("d/other"), nil, 0o666),
		os.Symlink("d/file", at("link")), os.Link(at("d/file"), at("hard")), os.Symlink("d", at("folder")),
		os.Symlink("d/new", at("dangling")), os.Symlink("folder/new", at("dangling2")), os.Symlink("loop", at("loop")))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return dir
}

func TestSame(t *testing.T) {
	dir := folder(t)
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"d/file", "./d//file", true},
		{"d/file", dir + "/d/file", true},
		{"d/file", "link", true},
		{"d/file", "hard", true},
		{"link", "hard", true},
		{"folder/file", "d/file", true},
		{"folder/../d/file", "hard", true},
		{"d/file", "d/other", false},
		{"d/file", "d/new", false},
		{"d/new", "d/../d/new", true},
		{"d/new", "folder/new", true},
		{"d/new", dir + "/folder/new", true},
		{"d/new", "dangling", true},
		{"dangling", "dangling2", true},
		{"new", "d/new", false},
		{"d/new", "d/new2", false},
		{"d/new", "none/new", false},
		{"none/new", "./none/../none/new", true},
		{"none/new", "none/other", false},
	} {
		a, errA := Of(c.a)
		b, errB := Of(c.b)
		if err := errors.Join(errA, errB); err != nil {
			t.Error(err)
			continue
		}
		if a.Same(b) != c.same || b.Same(a) != c.same {
			t.Errorf("%s and %s: %v, want %v", c.a, c.b, a.Same(b), c.same)
		}
		if c.same && a.Key() != b.Key() {
			t.Errorf("%s and %s are one file with the keys %v and %v", c.a, c.b, a.Key(), b.Key())
		}
	}
	if _, err := Of("loop"); err == nil {
		t.Error("a link to itself names a file")
	}
	f, err := os.Open("hard")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if null, err := Of(os.DevNull); err != nil || !null.Device() {
		t.Errorf("%s is no device: %v", os.DevNull, err)
	}
	open, err := OfOpen(f)
	named, _ := Of("link")
	if err != nil || !open.Same(named) || open.Device() {
		t.Errorf("an open file is not the one of its name: %v", err)
	}
}

// TestFolds: whether names differ that only the folder can tell apart is the folder's to say, and
// asking leaves nothing.
func TestFolds(t *testing.T) {
	dir := folder(t)
	same := func(a, b string) bool {
		x, errX := Of(a)
		y, errY := Of(b)
		if err := errors.Join(errX, errY); err != nil {
			t.Fatal(err)
		}
		if x.Same(y) && x.Key() != y.Key() {
			t.Errorf("%q and %q are one file with the keys %v and %v", a, b, x.Key(), y.Key())
		}
		return x.Same(y)
	}
	const upper, lower = "d/NEW.png", "folder/new.png"
	const composed, decomposed = "d/\u00e4.png", "d/a\u0308.png"
	if err := os.WriteFile("d/probe", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := os.Stat("d/PROBE")
	if folding := err == nil; same(upper, lower) != folding {
		t.Errorf("%s and %s: %v in a folder that folds case: %v", upper, lower, !folding, folding)
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "d"))
	if len(entries) != 3 {
		t.Errorf("left behind: %v", entries)
	}
	defer func(f func(dir, a, b string) bool) { folds = f }(folds)
	folds = func(_, a, b string) bool { return strings.EqualFold(a, b) } // as a folder does that folds case
	if !same(upper, lower) {
		t.Errorf("%s and %s are distinguished where case is folded", upper, lower)
	}
	folds = func(_, a, b string) bool { return true } // as one that does not know forms of Unicode apart
	if !same(composed, decomposed) || same(composed, lower) {
		t.Error("two forms of one name are distinguished, or two names are not")
	}
}
