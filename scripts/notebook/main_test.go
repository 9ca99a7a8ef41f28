package main

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	source = "../../docs/notebook/main.go"
	made   = "../../docs/notebook/clgrad.ipynb"
)

// book is Jupyter's format 4.5, as far as tests look at it.
type book struct {
	NBFormat      int `json:"nbformat"`
	NBFormatMinor int `json:"nbformat_minor"`
	Metadata      map[string]map[string]string
	Cells         []nbCell
}

type nbCell struct {
	CellType       string `json:"cell_type"`
	ID             string
	Metadata       map[string]any
	Source         []string
	ExecutionCount int `json:"execution_count"`
	Outputs        []struct {
		OutputType string `json:"output_type"`
		Name       string
		Text       []string
	}
}

func read(t *testing.T, text []byte) (b book) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		t.Fatal(err)
	}
	return b
}

func parsed(t *testing.T) *program {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNotebook: the notebook in docs has the cells of the program, and all but the first print or draw, or end in a file.
func TestNotebook(t *testing.T) {
	text, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	b := read(t, text)
	pictures, draws := 0, map[string]bool{} // cells with a picture behind them
	last := ""
	b.Cells = slices.DeleteFunc(b.Cells, func(c nbCell) bool {
		name, found := strings.CutPrefix(c.ID, pictureID)
		if found {
			f, err := os.Open("../../docs/notebook/" + name + ".png")
			if err == nil {
				_, err = png.Decode(f)
				f.Close()
			}
			if err != nil {
				t.Error(err)
			}
			pictures++
			draws[last] = true
		} else {
			last = c.ID
		}
		return found
	})
	p := parsed(t)
	again, err := p.notebook()
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, again)
	if len(b.Cells) != len(want.Cells) || b.NBFormat != 4 || b.NBFormatMinor != 5 || b.Metadata["language_info"]["name"] != "go" {
		t.Fatalf("%d cells, the program has %d: make notebook", len(b.Cells), len(want.Cells))
	}
	for i, c := range b.Cells {
		if w := want.Cells[i]; c.CellType != w.CellType || c.ID != w.ID || !slices.Equal(c.Source, w.Source) {
			t.Errorf("cell %d is not the program's: make notebook\n%s", i, strings.Join(c.Source, ""))
		}
		if c.CellType == "code" && i > 1 && i < len(b.Cells)-1 && len(c.Outputs) == 0 && !draws[c.ID] {
			t.Errorf("cell %d has no output", i)
		}
		for _, o := range c.Outputs {
			if o.OutputType != "stream" || o.Name != "stdout" || len(o.Text) == 0 {
				t.Errorf("cell %d: %+v", i, o)
			}
		}
	}
	if pictures < 3 {
		t.Errorf("%d pictures", pictures)
	}
}

// TestRun: the program runs, and every cell prints as many lines and draws as many pictures as in docs.
func TestRun(t *testing.T) {
	if os.Getenv("CLGRAD_MORE") == "" {
		t.Skip("it builds a program: scripts/test-more.sh runs it")
	}
	p := parsed(t)
	if err := p.run("../../docs/notebook"); err != nil {
		t.Fatal(err)
	}
	text, err := p.notebook()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	got, want := read(t, text), read(t, kept)
	for i, c := range got.Cells {
		w := want.Cells[i]
		if len(c.Outputs) != len(w.Outputs) {
			t.Errorf("cell %d: %d outputs, %d in docs", i, len(c.Outputs), len(w.Outputs))
			continue
		}
		for k, o := range c.Outputs {
			if len(o.Text) != len(w.Outputs[k].Text) {
				t.Errorf("cell %d prints\n%s\nand in docs\n%s", i, strings.Join(o.Text, ""), strings.Join(w.Outputs[k].Text, ""))
			}
		}
	}
}

func TestParse(t *testing.T) {
	p, err := parse("package main\n\nfunc main() {\n\t//%% # A\n\t//\n\t// b\n\tx := 1\n\tif x > 0 {\n\t\tx++\n\t}\n\n\t//%% C\n\ty()\n}\n")
	if err != nil || len(p.cells) != 2 || p.cells[0].text != "# A\n\nb" || p.cells[0].code != "x := 1\nif x > 0 {\n\tx++\n}" ||
		p.cells[1].text != "C" || p.cells[1].code != "y()" || p.head != "package main\n\n" {
		t.Errorf("%+v, %v", p, err)
	}
	for text, want := range map[string]string{
		"package main\n": "func main",
		"package main\nfunc main() {\n\tx()\n\t//%% A\n}\n":       "begin with a cell",
		"package main\nfunc main() {\n\t//%% A\n}\n\nvar x = 1\n": "does not end in func main",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRunErrors: a program that does not build, and one that fails, are errors with what was said.
func TestRunErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	for code, want := range map[string]string{"x := 1": "declared and not used: x", `fmt.Println("so far"); os.Exit(3)`: "so far"} {
		p := &program{head: "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n", cells: []cell{{code: code}}}
		if err := p.run("."); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", code, err)
		}
	}
}
