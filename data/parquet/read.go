package parquet

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/tensor"
	"github.com/parquet-go/parquet-go"
)

// leaf is how a column is read.
type leaf struct {
	*parquet.Column
	repeated bool // it is of a list
	value    func(parquet.Value) value
}

// each calls take with every value of a column in the rows that are there, and with the place of the
// row among them. Errors of take get the row and the column.
func (f *File) each(name string, take func(at int, v value) error) error {
	c, err := f.column(name)
	if err != nil {
		return err
	}
	if f.leaves[c].repeated {
		return formatError{fmt.Errorf("parquet: %scolumn %q is of lists, which are not read", f.path, name)}
	}
	fill, at := f.fill[name], 0
	for _, g := range f.groups {
		row := 0
		err := f.guard(func() error {
			return f.leaves[c].values(g, c, func(v value) error {
				row++
				switch {
				case row > g.rows:
					return fmt.Errorf("a row group of %d rows has more values", g.rows)
				case g.keep != nil && !g.keep[row-1]:
					return nil
				case v.kind == missing:
					v = fill
				}
				at++
				return take(at-1, v)
			})
		})
		switch {
		case err != nil && row > 0:
			err = fmt.Errorf("row %d: %w", g.first+row-1, err)
		case err == nil && row < g.rows:
			err = formatError{fmt.Errorf("it is damaged: a row group of %d rows has %d values", g.rows, row)}
		}
		if err != nil {
			return fmt.Errorf("parquet: %scolumn %q: %w", f.path, name, err)
		}
	}
	return nil
}

// values calls take with the values of column c in a row group.
func (l *leaf) values(g group, c int, take func(value) error) error {
	pages := g.ColumnChunks()[c].Pages()
	defer pages.Close()
	buffer := make([]parquet.Value, 1024)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = l.page(page, buffer, take)
		parquet.Release(page)
		if err != nil {
			return err
		}
	}
}

func (l *leaf) page(page parquet.Page, buffer []parquet.Value, take func(value) error) error {
	values := page.Values()
	for {
		n, err := values.ReadValues(buffer)
		for _, v := range buffer[:n] {
			var read value
			if !v.IsNull() {
				read = l.value(v)
			}
			if err := take(read); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrNoProgress
		}
	}
}

// errMissing is what is wrong with a value that is not there.
var errMissing = formatError{errors.New("a value is missing: see DropMissing and FillMissing")}

// Columns returns columns as an array [rows, columns] of a type. A number that the type does not hold
// is an error, and so are infinities; floats are rounded. Bools are 0 and 1, decimals floats. Dates and
// times are numbers of days, milliseconds, microseconds or nanoseconds, as Column.Type says. It panics
// with tensor.ErrValue without a column.
func Columns[T data.Number](f *File, columns ...string) (data.Array, error) {
	if len(columns) == 0 {
		panic(misuse("Columns", tensor.ErrValue, "name a column"))
	}
	var values []T
	for i, name := range columns {
		err := f.each(name, func(at int, v value) error {
			if v.kind == missing {
				return errMissing
			}
			n, err := as[T](v)
			if err != nil {
				return formatError{err}
			}
			if i == 0 { // as many as the file has, not as it claims
				values = append(values, make([]T, len(columns))...)
			}
			values[at*len(columns)+i] = n
			return nil
		})
		if err != nil {
			return data.Array{}, err
		}
	}
	return data.New(values, len(values)/len(columns), len(columns)), nil
}

// Strings returns a column of text, "" where a value is missing. Numbers are written as text.
func (f *File) Strings(column string) ([]string, error) {
	texts := []string{}
	err := f.each(column, func(_ int, v value) error {
		if v.kind == missing {
			texts = append(texts, "")
		} else {
			texts = append(texts, v.String())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return texts, nil
}

// Labels returns a column of text, or of other values as text, as an array of int32 [rows]: for each
// text its place among the classes, which are returned, too. Given classes are those, as for a second
// file that is to have the labels of a first; a text that is none of them is an error. Without them,
// the classes are the texts of the column, sorted. It panics with tensor.ErrValue for a class that is
// given twice.
func (f *File) Labels(column string, classes ...string) (data.Array, []string, error) {
	place := map[string]int32{}
	for i, class := range classes {
		if _, twice := place[class]; twice {
			panic(misuse("Labels", tensor.ErrValue, fmt.Sprintf("class %q is there twice", class)))
		}
		place[class] = int32(i)
	}
	labels := []int32{}
	err := f.each(column, func(_ int, v value) error {
		if v.kind == missing {
			return errMissing
		}
		at, known := place[v.String()]
		switch {
		case known:
		case len(classes) > 0:
			return formatError{fmt.Errorf("%q is none of the classes %q", v.String(), classes)}
		default:
			at = int32(len(place))
			place[v.String()] = at
		}
		labels = append(labels, at)
		return nil
	})
	if err != nil {
		return data.Array{}, nil, err
	}
	if len(classes) > 0 {
		return data.New(labels), slices.Clone(classes), nil
	}
	sorted := slices.Sorted(maps.Keys(place))
	to := make([]int32, len(sorted))
	for i, class := range sorted {
		to[place[class]] = int32(i)
	}
	for i, at := range labels {
		labels[i] = to[at]
	}
	return data.New(labels), sorted, nil
}

// Missing returns where the value of a column is missing, as an array of bool [rows].
func (f *File) Missing(column string) (data.Array, error) {
	missing, err := f.missing(column)
	if err != nil {
		return data.Array{}, err
	}
	return data.New(missing), nil
}

func (f *File) missing(column string) ([]bool, error) {
	is := []bool{}
	err := f.each(column, func(_ int, v value) error {
		is = append(is, v.kind == missing)
		return nil
	})
	return is, err
}

// DropMissing returns the file without the rows in which a value of these columns is missing, of any
// column but lists if none is given. It reads those columns.
func (f *File) DropMissing(columns ...string) (*File, error) {
	if len(columns) == 0 {
		for i, c := range f.columns {
			if !f.leaves[i].repeated {
				columns = append(columns, c.Name)
			}
		}
	}
	if len(columns) == 0 {
		return f, nil
	}
	kept := &File{f.source, slices.Clone(f.groups), f.fill}
	for i := range kept.groups {
		one := f.Group(i)
		var drop []bool
		for _, name := range columns {
			missing, err := one.missing(name)
			if err != nil {
				return nil, err
			}
			if drop == nil {
				drop = missing
			}
			for k, is := range missing {
				drop[k] = drop[k] || is
			}
		}
		kept.groups[i].drop(drop)
	}
	return kept, nil
}

// drop leaves out some of the rows that are there.
func (g *group) drop(rows []bool) {
	before := g.keep
	g.keep = make([]bool, 0, len(rows))
	for at := 0; at < len(rows) || len(g.keep) < len(before); {
		if len(g.keep) < len(before) && !before[len(g.keep)] {
			g.keep = append(g.keep, false)
			continue
		}
		g.keep = append(g.keep, !rows[at])
		at++
	}
}

// FillMissing returns the file with a bool, an int, an int64, a float64 or a string where a value of a
// column is missing. It panics with tensor.ErrType for another type, or a float that is not finite.
func (f *File) FillMissing(column string, with any) (*File, error) {
	v, ok := valueOf(with)
	if !ok {
		panic(misuse("FillMissing", tensor.ErrType, fmt.Sprintf("%v of type %T: it is a bool, an int, an int64, a finite float64 or a string", with, with)))
	}
	if _, err := f.column(column); err != nil {
		return nil, err
	}
	filled := &File{f.source, f.groups, map[string]value{column: v}}
	for name, v := range f.fill {
		if name != column {
			filled.fill[name] = v
		}
	}
	return filled, nil
}
