package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/generate"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// small is the folder of a model that scripts/generation/reference.py made.
const small = "../../testdata/generation/gpt2"

// expected is what Hugging Face's libraries make of it.
type expected struct {
	Texts []struct {
		Text   string
		Tokens []int32
	}
	Prompts []struct {
		Penalty         float64
		Prompts, Tokens [][]int32
	} `json:"generated"`
}

func readExpected(t *testing.T) (e expected) {
	t.Helper()
	if err := readJSON(filepath.Join(small, "expected.json"), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestGreedy: from the same file, the model writes PyTorch's tokens.
func TestGreedy(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		m, c, err := load(d, small)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range readExpected(t).Prompts {
			g, err := generate.New(d, m, generate.Config{Length: c.Positions, Batch: len(want.Prompts),
				Sample: generate.SampleOptions{RepetitionPenalty: want.Penalty}})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second finds what the first has left
				got, err := g.Take(len(want.Tokens[0]), want.Prompts...)
				if err != nil {
					t.Fatal(err)
				}
				for i, tokens := range want.Tokens {
					if len(tokens) < 20 || !slices.Equal(got[i], tokens) {
						t.Errorf("penalty %v, prompt %v continues\n%v, want\n%v", want.Penalty, want.Prompts[i], got[i], tokens)
					}
				}
			}
			g.Free()
		}
	})
}

// TestTokenizer: texts become Hugging Face's tokens, and texts again.
func TestTokenizer(t *testing.T) {
	tok, err := readTokenizer(small)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range readExpected(t).Texts {
		if got := tok.encode(want.Text); !slices.Equal(got, want.Tokens) {
			t.Errorf("%q is %v, want %v", want.Text, got, want.Tokens)
		}
	}
	for _, text := range []string{"", " ", "\xff\x00 not UTF-8", "ends in spaces  ", "<|endoftext|>"} {
		if got := tok.decode(tok.encode(text)); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
}

// TestDamaged: a folder that is no model is an error that names the file.
func TestDamaged(t *testing.T) {
	d := devtest.CPU(t)
	for name, c := range map[string]struct {
		file     string
		old, new string // "": the file is missing
		want     string
	}{
		"no config":           {"config.json", "", "", "config.json"},
		"config of no JSON":   {"config.json", "{", "x", "config.json"},
		"config of no heads":  {"config.json", `"n_head": 3`, `"n_head": 5`, "config.json is of no GPT-2"},
		"another width":       {"config.json", `"n_embd": 24`, `"n_embd": 48`, "has shape"},
		"another depth":       {"config.json", `"n_layer": 3`, `"n_layer": 2`, "the model has no"},
		"billions of tokens":  {"config.json", `"vocab_size": 400`, `"vocab_size": 2000000000000`, "wte.weight has shape"},
		"billions of blocks":  {"config.json", `"n_layer": 3`, `"n_layer": 2000000000000`, "h.1999999999999.mlp.c_fc.bias has shape"},
		"no end of texts":     {"vocab.json", "endoftext", "endofthis", "endoftext"},
		"no weights":          {"model.safetensors", "", "", "model.safetensors"},
		"damaged weights":     {"model.safetensors", "F32", "F99", "F99"},
		"no vocab":            {"vocab.json", "", "", "vocab.json"},
		"a vocab of no bytes": {"vocab.json", `"!"`, `"漢"`, "vocab.json"},
		"no merges":           {"merges.txt", "", "", "merges.txt"},
		"merges of others":    {"merges.txt", "t h", "h h", "merges.txt makes"},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(small)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, c.file)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if c.old == "" {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, bytes.Replace(raw, []byte(c.old), []byte(c.new), 1), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = readTokenizer(dir)
		if err == nil {
			_, _, err = load(d, dir)
		}
		if !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
