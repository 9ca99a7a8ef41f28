package environment

import (
	"errors"
	"testing"
)

// TestCheck: of several wrong variables the first by name is named, and a variable is registered
// once.
func TestCheck(t *testing.T) {
	if err := Check(); err != nil {
		t.Fatal(err)
	}
	a, b := errors.New("A"), errors.New("B")
	Register("B", func() error { return b })
	if err := Check(); err != b {
		t.Errorf("Check returns %v, want B", err)
	}
	Register("A", func() error { return a })
	if err := Check(); err != a {
		t.Errorf("Check returns %v, want A", err)
	}
	Register("A", func() error { return nil })
	Register("B", func() error { return nil })
	if err := Check(); err != nil {
		t.Error(err)
	}
	wrapped := error(&Selection{a})
	if !errors.Is(wrapped, a) || wrapped.Error() != "A" {
		t.Errorf("a Selection of A is %v", wrapped)
	}
}
