package main

import (
	"testing"

	"github.com/clgrad/clgrad/internal/clitest"
)

// TestMessages: the program says what testdata/messages.golden holds.
func TestMessages(t *testing.T) {
	if raceEnabled {
		t.Skip("a hundred programs, slow with the detector, that do one thing at a time")
	}
	clitest.Messages(t, program, drawInputs)
}

// TestMessageWords: nothing that the program says is in the words of a library.
func TestMessageWords(t *testing.T) { clitest.Words(t) }
