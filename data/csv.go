package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/tensor"
)

// CSVOptions says how a CSV file is written. The zero value: with commas, and the names of the
// columns in its first row.
type CSVOptions struct {
	Comma    rune // what stands between fields, such as ';' or '\t'; 0 is ','
	NoHeader bool // the first row is data, and the columns are named "0", "1", …

	// Missing are texts that stand for no value, as "NA" and "?" do. An empty field has none anyway.
	Missing []string
}

// Table is the text of a CSV file, by columns that have names. Its methods make numbers of it. A
// field that they cannot read, a missing one among them, is an error that wraps tensor.ErrFormat
// and names the line in which its row begins, and its column.
type Table struct {
	path    string // with what stands after it in errors, or ""
	columns []string
	rows    [][]string
	lines   []int // in which the rows begin
}

// LoadCSV reads a file of rows of text, in which quotes may enclose a field: RFC 4180. Spaces
// around a field and empty lines are left out. Rows of different lengths, quotes in the wrong
// place, and a column whose name is there twice, are an error that wraps tensor.ErrFormat. It
// panics with tensor.ErrValue for more than one CSVOptions, or a Comma that is a quote or ends a
// line. A device is an error: it has no end.
func LoadCSV(path string, options ...CSVOptions) (*Table, error) {
	f, _, err := regular.OpenOrPipe(path)
	if err != nil {
		return nil, fmt.Errorf("data: load: %w", err)
	}
	defer f.Close()
	t, err := ReadCSV(f, options...)
	if err != nil {
		return nil, fmt.Errorf("data: load %s: %w", path, err)
	}
	t.path = path + ": "
	return t, nil
}

// ReadCSV is LoadCSV of all of r.
func ReadCSV(r io.Reader, options ...CSVOptions) (*Table, error) {
	const op = "ReadCSV"
	if len(options) > 1 {
		panic(misuse(op, tensor.ErrValue, "pass one CSVOptions"))
	}
	o := CSVOptions{}
	if len(options) == 1 {
		o = options[0]
	}
	if o.Comma == 0 {
		o.Comma = ','
	}
	if strings.ContainsRune("\"\r\n\uFFFD", o.Comma) || !utf8.ValidRune(o.Comma) {
		panic(misuse(op, tensor.ErrValue, fmt.Sprintf("CSVOptions.Comma is %q", o.Comma)))
	}
	limited := &recordReader{r: r, left: recordMost}
	b := bufio.NewReader(limited)
	if start, _ := b.Peek(2); string(start) == "\xff\xfe" || string(start) == "\xfe\xff" {
		return nil, formatError{errors.New("it is UTF-16: save it as UTF-8")}
	}
	const mark = "\uFEFF" // that some programs begin UTF-8 with
	if start, _ := b.Peek(len(mark)); bytes.Equal(start, []byte(mark)) {
		_, _ = b.Discard(len(mark))
	}
	c := csv.NewReader(b)
	c.Comma = o.Comma
	c.TrimLeadingSpace = !unicode.IsSpace(o.Comma) // such a comma would be trimmed, too
	t := &Table{}
	for {
		limited.left = recordMost
		fields, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, csvError(err, len(fields), len(t.columns))
		}
		for i, field := range fields {
			fields[i] = strings.TrimSpace(field)
		}
		line, _ := c.FieldPos(0)
		if t.columns == nil {
			if err := t.head(fields, o); err != nil {
				return nil, err
			}
			if !o.NoHeader {
				continue
			}
		}
		for i, field := range fields {
			if slices.Contains(o.Missing, field) {
				fields[i] = ""
			}
		}
		t.rows, t.lines = append(t.rows, fields), append(t.lines, line)
	}
	if t.columns == nil {
		return nil, formatError{errors.New("it is empty")}
	}
	return t, nil
}

// head names the columns.
func (t *Table) head(fields []string, o CSVOptions) error {
	if o.NoHeader {
		for i := range fields {
			t.columns = append(t.columns, strconv.Itoa(i))
		}
		return nil
	}
	for i, name := range fields {
		if strings.Contains(name, "\r") {
			return formatError{errors.New("its lines end with carriage returns alone: convert them to line feeds")}
		}
		if slices.Contains(fields[:i], name) {
			return formatError{fmt.Errorf("two columns are named %q", name)}
		}
	}
	t.columns = fields
	return nil
}

// recordMost is how many bytes a record of a CSV file may have.
const recordMost = 64 << 20

// recordReader reads at most left bytes more: a line may have no end.
type recordReader struct {
	r    io.Reader
	left int
}

func (r *recordReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, formatError{fmt.Errorf("a row has over %d MiB", recordMost>>20)}
	}
	n, err := r.r.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// csvError returns what is wrong with a row in plain words.
func csvError(err error, fields, columns int) error {
	var p *csv.ParseError
	switch {
	case !errors.As(err, &p):
		return err
	case errors.Is(err, csv.ErrFieldCount):
		return formatError{fmt.Errorf("line %d: it has %d fields, the first row %d", p.StartLine, fields, columns)}
	case errors.Is(err, csv.ErrQuote):
		return formatError{fmt.Errorf("line %d: a field that begins with a quote does not end with one", p.StartLine)}
	}
	return formatError{fmt.Errorf("line %d: a quote stands inside of a field that does not begin with one", p.Line)}
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Columns returns the names of the columns in their order. The caller must not change them.
func (t *Table) Columns() []string { return t.columns }

// column returns the place of a column.
func (t *Table) column(name string) (int, error) {
	if i := slices.Index(t.columns, name); i >= 0 {
		return i, nil
	}
	return 0, formatError{fmt.Errorf("data: %sthere is no column %q: there are %q", t.path, name, t.columns)}
}

// each calls take with the row and the text of every field of a column, none of which may be
// missing.
func (t *Table) each(name string, take func(row int, text string) error) error {
	at, err := t.column(name)
	if err != nil {
		return err
	}
	for row, fields := range t.rows {
		err := errors.New("a value is missing: see DropMissing and FillMissing")
		if fields[at] != "" {
			err = take(row, fields[at])
		}
		if err != nil {
			return formatError{fmt.Errorf("data: %sline %d, column %q: %w", t.path, t.lines[row], name, err)}
		}
	}
	return nil
}

// Floats is [Columns] of float64: an array [rows, columns].
func (t *Table) Floats(columns ...string) (Array, error) {
	if len(columns) == 0 {
		panic(misuse("Reals", tensor.ErrValue, fmt.Sprintf("name a column: there are %q", t.columns)))
	}
	return Columns[float64](t, columns...)
}

// Ints returns a column of whole numbers as an array of int32 [rows], such as labels that are
// numbers. [Columns] has other types.
func (t *Table) Ints(column string) (Array, error) {
	a, err := Columns[int32](t, column)
	if err != nil {
		return Array{}, err
	}
	return New(Elements[int32](a)), nil
}

// Labels returns a column of text as an array of int32 [rows]: for each text its place among the
// classes, which are returned, too. Given classes are those, as for a second file that is to have
// the labels of a first; a text that is none of them is an error. Without them, the classes are the
// texts of the column, sorted. It panics with tensor.ErrValue for a class that is given twice.
func (t *Table) Labels(column string, classes ...string) (Array, []string, error) {
	given := len(classes) > 0
	if !given {
		err := t.each(column, func(_ int, text string) error {
			classes = append(classes, text)
			return nil
		})
		if err != nil {
			return Array{}, nil, err
		}
		slices.Sort(classes)
		classes = slices.Compact(classes)
	}
	place := map[string]int32{}
	for i, class := range classes {
		if _, twice := place[class]; twice {
			panic(misuse("Labels", tensor.ErrValue, fmt.Sprintf("class %q is there twice", class)))
		}
		place[class] = int32(i)
	}
	labels := make([]int32, len(t.rows))
	err := t.each(column, func(row int, text string) error {
		at, ok := place[text]
		if !ok {
			return fmt.Errorf("%q is none of the classes %q", text, classes)
		}
		labels[row] = at
		return nil
	})
	if err != nil {
		return Array{}, nil, err
	}
	return New(labels), slices.Clone(classes), nil
}
