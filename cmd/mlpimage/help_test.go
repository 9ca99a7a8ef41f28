package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestWrap(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"one two\nthree":                       "one two\nthree",
		"one\ntwo":                             "one two",
		"one\n\ntwo":                           "one\n\ntwo",
		"see\n\n  indented as it is\n\nabc de": "see\n\n  indented as it is\n\nabc de",
		"überlängen":                           "überlängen",
		"äöü äöü äöü":                          "äöü äöü\näöü",
	} {
		if got := wrap(in, 8); got != want {
			t.Errorf("wrap(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestHelpIntoNothing: help that cannot be written is said by the program, once, not by the help as well.
func TestHelpIntoNothing(t *testing.T) {
	var stderr strings.Builder
	if code := run([]string{"--help"}, brokenPipe{}, &stderr); code != exitFailure || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("code %d, and it says %q", code, stderr.String())
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

// TestNoneEmpty: an empty value is refused for every flag of every command that takes a text.
func TestNoneEmpty(t *testing.T) {
	root := newRoot(nil)
	for _, cmd := range root.Commands() {
		if cmd.Name() != "train" && cmd.Name() != "batch" && cmd.Name() != "render" {
			continue
		}
		if err := cmd.Flags().Set("output", ""); err != nil {
			t.Fatal(err)
		}
		var usage *usageError
		if err := noneEmpty(cmd.Flags()); !errors.As(err, &usage) {
			t.Errorf("%s: err = %v", cmd.Name(), err)
		}
	}
	if err := noneEmpty((&cobra.Command{}).Flags()); err != nil {
		t.Error(err)
	}
}
