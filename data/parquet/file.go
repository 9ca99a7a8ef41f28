package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/tensor"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// File is a Parquet file, or some of its rows: see [File.Group], [File.DropMissing] and
// [File.FillMissing]. Its methods may be called by several goroutines at once.
type File struct {
	*source
	groups []group
	fill   map[string]value // of columns, where a value is missing
}

// source is what the parts of a file have in common.
type source struct {
	path    string // with what stands after it in errors, or ""
	reader  *reader
	closer  io.Closer
	columns []Column
	leaves  []leaf // of each column
}

// group is a row group.
type group struct {
	parquet.RowGroup
	rows  int
	first int    // its first row, counted from the start of the file
	keep  []bool // which rows are there; nil: all
}

// Column is a column of a [File].
type Column struct {
	Name     string // of a field of a group, with the names of the groups before it: "a.b"
	Type     string // as the file says it: "INT64", "STRING", "DECIMAL(9,2)"
	Nullable bool   // values may be missing
}

// Open opens a Parquet file and reads what it says of its columns. The caller closes it.
func Open(path string) (*File, error) {
	f, size, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("parquet: open: %w", err)
	}
	p, err := newFile(f, size)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("parquet: open %s: %w", path, err)
	}
	p.path, p.closer = path+": ", f
	return p, nil
}

// New is Open of so many bytes from anywhere.
func New(r io.ReaderAt, size int64) (*File, error) {
	p, err := newFile(r, size)
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	return p, nil
}

func newFile(r io.ReaderAt, size int64) (*File, error) {
	s := &source{reader: &reader{ReaderAt: r}}
	if err := s.checkFooter(size); err != nil {
		return nil, err
	}
	var file *parquet.File
	err := s.guard(func() (err error) {
		file, err = parquet.OpenFile(s.reader, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		return err
	})
	if err != nil {
		return nil, err
	}
	f := &File{source: s}
	err = s.guard(func() error {
		s.addColumns(file.Root(), nil, logicalTypes(file))
		return f.addGroups(file)
	})
	return f, err
}

// checkFooter refuses a file whose last bytes claim a footer that it has no room for: it would be
// asked for.
func (s *source) checkFooter(size int64) error {
	const magic, ends = "PAR1", 8 // a length of four bytes, and the magic number
	last := make([]byte, ends)
	if size < int64(len(magic)+ends) {
		return formatError{errors.New("it is no Parquet file: it is too short")}
	}
	if n, err := s.reader.ReadAt(last, size-ends); n < ends {
		return fmt.Errorf("its end cannot be read: %w", err)
	}
	switch footer := int64(binary.LittleEndian.Uint32(last)); {
	case string(last[4:]) == "PARE":
		return formatError{errors.New("it is encrypted, which is not read")}
	case string(last[4:]) != magic:
		return formatError{errors.New("it is no Parquet file: it does not end with PAR1")}
	case footer > size-int64(len(magic)+ends):
		return formatError{fmt.Errorf("it is damaged: it says that its footer has %d bytes, and it has %d itself", footer, size)}
	}
	return nil
}

// logicalTypes returns what the file says of each column beside its physical type, nil if nothing.
func logicalTypes(file *parquet.File) (types []format.LogicalTypeValue) {
	for _, e := range file.Metadata().Schema {
		switch {
		case e.NumChildren.Valid && e.NumChildren.V > 0 || !e.Type.Valid:
		case e.LogicalType.Value != nil:
			types = append(types, e.LogicalType.Value)
		default:
			types = append(types, nil)
		}
	}
	return types
}

// addColumns adds the columns below a group, with what logicalTypes says of all.
func (s *source) addColumns(c *parquet.Column, path []string, logical []format.LogicalTypeValue) {
	for _, child := range c.Columns() {
		name := append(path[:len(path):len(path)], child.Name())
		if !child.Leaf() {
			s.addColumns(child, name, logical)
			continue
		}
		typ, of := child.Type(), logical[len(s.columns)]
		text := typ.String()
		if _, is := of.(*format.Float16Type); is {
			text = of.String()
		}
		s.columns = append(s.columns, Column{strings.Join(name, "."), text, child.MaxDefinitionLevel() > 0})
		s.leaves = append(s.leaves, leaf{child, child.MaxRepetitionLevel() > 0, readerOf(typ, of)})
	}
}

// addGroups adds the row groups of a file.
func (f *File) addGroups(file *parquet.File) error {
	for _, g := range file.Metadata().RowGroups {
		for _, c := range g.Columns {
			// The library decompresses a damaged page of it into more and more memory, until the program is killed.
			if c.MetaData.Codec == format.Lz4Raw {
				return formatError{errors.New("it is compressed by LZ4, which is not read: write it with Zstandard or Snappy")}
			}
		}
	}
	first := 0
	for i, g := range file.RowGroups() {
		rows := g.NumRows()
		if rows < 0 || rows > math.MaxInt32 || len(g.ColumnChunks()) != len(f.columns) {
			return fmt.Errorf("row group %d claims %d rows of %d columns, and there are %d", i, rows, len(g.ColumnChunks()), len(f.columns))
		}
		f.groups = append(f.groups, group{g, int(rows), first, nil})
		first += int(rows)
	}
	return nil
}

// Close closes the file that Open opened, also for the parts that Group and others returned.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Len returns the number of rows.
func (f *File) Len() (n int) {
	for _, g := range f.groups {
		if g.keep == nil {
			n += g.rows
			continue
		}
		for _, is := range g.keep {
			if is {
				n++
			}
		}
	}
	return n
}

// Columns returns the columns in their order. The caller must not change them.
func (f *File) Columns() []Column { return f.columns }

// Groups returns the number of row groups.
func (f *File) Groups() int { return len(f.groups) }

// Group returns the rows of a row group. It panics with tensor.ErrIndex for one that there is not.
func (f *File) Group(i int) *File {
	if i < 0 || i >= len(f.groups) {
		panic(misuse("Group", tensor.ErrIndex, fmt.Sprintf("row group %d of %d", i, len(f.groups))))
	}
	return &File{f.source, f.groups[i : i+1 : i+1], f.fill}
}

// column returns the place of a column.
func (s *source) column(name string) (int, error) {
	if i := slices.IndexFunc(s.columns, func(c Column) bool { return c.Name == name }); i >= 0 {
		return i, nil
	}
	var names []string
	for _, c := range s.columns {
		names = append(names, c.Name)
	}
	return 0, formatError{fmt.Errorf("parquet: %sthere is no column %q: there are %q", s.path, name, names)}
}

// guard calls f, and returns what is wrong with the file: an error of reading is that, and other
// errors and panics count as damage.
func (s *source) guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it is damaged (%v)", p)
		}
		var known formatError
		switch failed := s.reader.failed(); {
		case err == nil || errors.As(err, &known):
		case failed != nil:
			err = failed
		default:
			err = formatError{err}
		}
	}()
	return f()
}

// formatError is what is wrong with the contents of a file.
type formatError struct{ error }

func (e formatError) Unwrap() error { return e.error }

func (e formatError) Is(target error) bool { return target == tensor.ErrFormat }

func misuse(op string, kind error, detail string) *tensor.Error {
	return &tensor.Error{Pkg: "parquet", Op: op, Kind: kind, Detail: detail}
}
