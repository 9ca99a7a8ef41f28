// Notebook makes a Jupyter notebook of a Go program: go run ./scripts/notebook docs/notebook/main.go docs/notebook/clgrad.ipynb.
//
// A line "//%% text" in main begins a cell. The text and the comment lines behind it are Markdown, the lines up to the
// next cell are its code. The first cell has what stands before main. The program runs once, in an empty folder; a cell
// keeps what it prints. The PNG files that it writes lie beside the notebook, and a cell behind it shows each.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/atomicfile"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: notebook PROGRAM.go NOTEBOOK.ipynb")
	}
	source, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	p, err := parse(string(source))
	if err == nil {
		err = p.run(filepath.Dir(os.Args[1]))
	}
	if err != nil {
		log.Fatalf("%s: %v", os.Args[1], err)
	}
	text, err := p.notebook()
	if err != nil {
		log.Fatal(err)
	}
	files := []file{{filepath.Base(os.Args[2]), text}}
	for _, c := range p.cells {
		files = append(files, c.pictures...)
	}
	for _, f := range files {
		err := atomicfile.Write(filepath.Join(filepath.Dir(os.Args[2]), f.name), func(w io.Writer) error {
			_, err := w.Write(f.data)
			return err
		})
		if err != nil {
			log.Fatal(err)
		}
	}
}

// file is one that is written.
type file struct {
	name string
	data []byte
}

// program is a Go program in cells.
type program struct {
	head  string // what stands before main
	cells []cell
}

// cell is a part of main, and what it does.
type cell struct {
	text, code string
	printed    string
	pictures   []file // PNG
}

const (
	mainLine = "func main() {\n"
	cellMark = "\t//%% "
)

func parse(source string) (*program, error) {
	head, body, found := strings.Cut(source, mainLine)
	body, tail, closed := strings.Cut(body, "\n}\n")
	if !found || !closed || tail != "" {
		return nil, fmt.Errorf("it does not end in func main")
	}
	before, body, found := strings.Cut("\n"+body, "\n"+cellMark)
	if !found || strings.TrimSpace(before) != "" {
		return nil, fmt.Errorf("main does not begin with a cell: a line %q", strings.TrimSpace(cellMark))
	}
	p := &program{head: head}
	for part := range strings.SplitSeq(body, "\n"+cellMark) {
		lines := strings.Split(part, "\n")
		c, k := cell{text: lines[0]}, 1
		for ; k < len(lines) && strings.HasPrefix(lines[k], "\t//"); k++ {
			c.text += "\n" + strings.TrimPrefix(strings.TrimPrefix(lines[k], "\t//"), " ")
		}
		for i := range lines[k:] {
			lines[k+i] = strings.TrimPrefix(lines[k+i], "\t")
		}
		c.code = strings.TrimSpace(strings.Join(lines[k:], "\n"))
		p.cells = append(p.cells, c)
	}
	return p, nil
}

// endOfCell is printed behind each cell.
const endOfCell = "\x00end of cell\n"

// run runs the program, from a folder beside that of its source, so that it imports the same packages.
func (p *program) run(folder string) error {
	source := p.head + mainLine
	for i, c := range p.cells {
		source += c.code + fmt.Sprintf("\nprint_cell(%d)\n", i)
	}
	source += "}\n\n" + `func print_cell(i int) {
	os.Stdout.WriteString("\x00end of cell\n")
	names, _ := os.ReadDir(".")
	for _, n := range names {
		if e := n.Name(); len(e) > 4 && e[len(e)-4:] == ".png" && e[0] != '_' {
			os.Rename(e, fmt.Sprintf("_%02d_%s", i, e))
		}
	}
}
`
	dir, err := os.MkdirTemp(folder, "_run")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	work := filepath.Join(dir, "work")
	binary, err := filepath.Abs(filepath.Join(dir, "notebook"))
	if err == nil {
		err = os.Mkdir(work, 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o666)
	}
	if err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-o", binary, "./"+filepath.ToSlash(dir)).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	var printed, failed bytes.Buffer
	cmd := exec.Command(binary)
	cmd.Dir, cmd.Stdout, cmd.Stderr = work, &printed, &failed
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s%s", err, &printed, &failed)
	}
	outputs := strings.Split(printed.String(), endOfCell)
	if len(outputs) != len(p.cells)+1 {
		return fmt.Errorf("%d cells ran of %d", len(outputs)-1, len(p.cells))
	}
	for i := range p.cells {
		p.cells[i].printed = outputs[i]
		names, err := filepath.Glob(filepath.Join(work, fmt.Sprintf("_%02d_*.png", i)))
		if err != nil {
			return err
		}
		slices.Sort(names)
		for _, name := range names {
			picture, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			p.cells[i].pictures = append(p.cells[i].pictures, file{filepath.Base(name)[len("_00_"):], picture})
		}
	}
	return nil
}

// pictureID begins the id of a cell that shows a picture.
const pictureID = "picture-"

// notebook returns the program as Jupyter's format 4.5.
func (p *program) notebook() ([]byte, error) {
	type object = map[string]any
	var cells []object
	add := func(kind, id, source string) object {
		c := object{"cell_type": kind, "id": id, "metadata": object{}, "source": lines(source)}
		cells = append(cells, c)
		return c
	}
	count := 0
	code := func(source string, outputs []object) {
		count++
		c := add("code", fmt.Sprintf("code-%d", count), source)
		c["execution_count"], c["outputs"] = count, outputs
	}
	_, head, _ := strings.Cut(p.head, "\npackage main\n")
	add("markdown", "title", "# clgrad in a few cells\n\n"+
		"Made by `make notebook` of [main.go](main.go), a program: `go run ./docs/notebook`.")
	code(strings.TrimSpace(head), []object{})
	for i, c := range p.cells {
		add("markdown", fmt.Sprintf("text-%d", i+1), c.text)
		outputs := []object{}
		if c.printed != "" {
			outputs = append(outputs, object{"output_type": "stream", "name": "stdout", "text": lines(c.printed)})
		}
		code(c.code, outputs)
		for _, picture := range c.pictures {
			name := strings.TrimSuffix(picture.name, ".png")
			add("markdown", pictureID+name, fmt.Sprintf("![%s](%s)", name, picture.name))
		}
	}
	text, err := json.MarshalIndent(object{"nbformat": 4, "nbformat_minor": 5, "cells": cells, "metadata": object{
		"kernelspec":    object{"name": "gonb", "display_name": "Go (gonb)", "language": "go"},
		"language_info": object{"name": "go", "file_extension": ".go", "mimetype": "text/x-go"}}}, "", " ")
	return append(text, '\n'), err
}

// lines returns text as Jupyter keeps it: lines with their ends.
func lines(text string) []string {
	list := []string{}
	for line := range strings.Lines(text) {
		list = append(list, line)
	}
	return list
}
