package cli

import "testing"

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
