package data

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/clgrad/clgrad/tensor"
)

// Number is a type of the columns of tables.
type Number interface {
	bool | int | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// Columns returns columns of a table as an array [rows, columns] of a type. A number that the type
// does not hold, or that is not finite, is an error. Bools are 1, t, true, 0, f and false. It panics
// with tensor.ErrValue without a column.
func Columns[T Number](t *Table, columns ...string) (Array, error) {
	if len(columns) == 0 {
		panic(misuse("Columns", tensor.ErrValue, fmt.Sprintf("name a column: there are %q", t.columns)))
	}
	values := make([]T, len(t.rows)*len(columns))
	for i, name := range columns {
		err := t.each(name, func(row int, text string) (err error) {
			values[row*len(columns)+i], err = parsed[T](text)
			return err
		})
		if err != nil {
			return Array{}, err
		}
	}
	return New(values, len(t.rows), len(columns)), nil
}

// parsed returns the value that a text is.
func parsed[T Number](text string) (value T, err error) {
	bits := 8 * tensor.TypeOf[T]().Size()
	switch v := any(&value).(type) {
	case *bool:
		if *v, err = strconv.ParseBool(text); err != nil {
			err = fmt.Errorf("%q is no bool: it is true or false", text)
		}
	case *float32:
		var wide float64
		wide, err = parsedFloat(text, bits)
		*v = float32(wide)
	case *float64:
		*v, err = parsedFloat(text, bits)
	case *uint8, *uint16, *uint32, *uint64:
		var wide uint64
		wide, err = strconv.ParseUint(text, 10, bits)
		err = integerError(err, text, fmt.Sprintf("uint%d, which holds 0 to %d", bits, uint64(math.MaxUint64)>>(64-bits)))
		setUint(v, wide)
	default:
		if _, is := v.(*int); is {
			bits = strconv.IntSize
		}
		var wide int64
		wide, err = strconv.ParseInt(text, 10, bits)
		least := int64(math.MinInt64) >> (64 - bits)
		err = integerError(err, text, fmt.Sprintf("int%d, which holds %d to %d", bits, least, -(least+1)))
		setInt(v, wide)
	}
	return value, err
}

func parsedFloat(text string, bits int) (float64, error) {
	v, err := strconv.ParseFloat(text, bits)
	switch {
	case strings.ContainsAny(text, "_xX"): // of Go's literals: 2020_01 is a name, not 202001
		return 0, fmt.Errorf("%q is no number", text)
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%q is beyond the numbers of a float%d", text, bits)
	case err != nil:
		return 0, fmt.Errorf("%q is no number", text)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%q is no finite number", text)
	}
	return v, nil
}

func integerError(err error, text, of string) error {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%q is beyond %s", text, of)
	case err != nil:
		return fmt.Errorf("%q is no whole number", text)
	}
	return nil
}

func setUint(at any, v uint64) {
	switch at := at.(type) {
	case *uint8:
		*at = uint8(v)
	case *uint16:
		*at = uint16(v)
	case *uint32:
		*at = uint32(v)
	case *uint64:
		*at = v
	}
}

func setInt(at any, v int64) {
	switch at := at.(type) {
	case *int:
		*at = int(v)
	case *int8:
		*at = int8(v)
	case *int16:
		*at = int16(v)
	case *int32:
		*at = int32(v)
	case *int64:
		*at = v
	}
}

// Strings returns the text of a column, "" where a value is missing.
func (t *Table) Strings(column string) ([]string, error) {
	at, err := t.column(column)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(t.rows))
	for i, fields := range t.rows {
		texts[i] = fields[at]
	}
	return texts, nil
}

// Missing returns where the value of a column is missing, as an array of bool [rows]: where the field
// is empty, or one of CSVOptions.Missing.
func (t *Table) Missing(column string) (Array, error) {
	texts, err := t.Strings(column)
	if err != nil {
		return Array{}, err
	}
	missing := make([]bool, len(texts))
	for i, text := range texts {
		missing[i] = text == ""
	}
	return New(missing), nil
}

// DropMissing returns a table without the rows in which a value of these columns is missing, of any
// column if none is given. It shares the others with t.
func (t *Table) DropMissing(columns ...string) (*Table, error) {
	if len(columns) == 0 {
		columns = t.columns
	}
	places := make([]int, len(columns))
	for i, name := range columns {
		at, err := t.column(name)
		if err != nil {
			return nil, err
		}
		places[i] = at
	}
	kept := &Table{path: t.path, columns: t.columns}
	for i, fields := range t.rows {
		if !slices.ContainsFunc(places, func(at int) bool { return fields[at] == "" }) {
			kept.rows, kept.lines = append(kept.rows, fields), append(kept.lines, t.lines[i])
		}
	}
	return kept, nil
}

// FillMissing returns a table in which a text stands where a value of a column is missing. It shares
// the other columns with t.
func (t *Table) FillMissing(column, text string) (*Table, error) {
	at, err := t.column(column)
	if err != nil {
		return nil, err
	}
	filled := &Table{path: t.path, columns: t.columns, rows: slices.Clone(t.rows), lines: t.lines}
	for i, fields := range filled.rows {
		if fields[at] == "" {
			filled.rows[i] = slices.Clone(fields)
			filled.rows[i][at] = text
		}
	}
	return filled, nil
}
