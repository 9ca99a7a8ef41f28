package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/cli"
)

// TestHelpIntoNothing: help that cannot be written is said by the program, once, not by the help as
// well.
func TestHelpIntoNothing(t *testing.T) {
	var stderr strings.Builder
	if code := run([]string{"--help"}, brokenPipe{}, &stderr); code != cli.ExitFailure || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("code %d, and it says %q", code, stderr.String())
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

// TestNoneEmpty: an empty value is refused for every flag of every command that takes a text.
func TestNoneEmpty(t *testing.T) {
	for _, command := range []string{"train", "batch", "render"} {
		var stderr strings.Builder
		code := run([]string{command, "none.png", "--output", ""}, io.Discard, &stderr)
		if code != cli.ExitUsage || !strings.Contains(stderr.String(), "--output is empty") {
			t.Errorf("%s: code %d, and it says %q", command, code, stderr.String())
		}
	}
}
