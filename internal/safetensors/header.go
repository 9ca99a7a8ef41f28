package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// parse reads the text of a header. Unlike json.Unmarshal it refuses a name that is there twice,
// numbers that are no whole ones, and names that differ in the case of their letters.
func (f *File) parse(text []byte) error {
	if len(text) == 0 || text[0] != '{' {
		return errors.New(`it does not begin with "{"`)
	}
	if !utf8.Valid(text) {
		return errors.New("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := object(d, func(name string) (err error) {
		if name == metadataName {
			f.Metadata, err = parseMetadata(d)
			return err
		}
		e, err := parseEntry(d)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		e.Name = name
		f.Entries = append(f.Entries, e)
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("it extends past its end")
	}
	return nil
}

// object reads an object, and calls value after each name.
func object(d *json.Decoder, value func(name string) error) error {
	if t, err := next(d); err != nil {
		return err
	} else if t != json.Delim('{') {
		return errors.New("an object is wanted")
	}
	return members(d, value)
}

// members reads an object after its "{".
func members(d *json.Decoder, value func(name string) error) error {
	seen := map[string]bool{}
	for {
		t, err := next(d)
		if err != nil {
			return err
		}
		name, ok := t.(string)
		if !ok {
			return nil // the decoder lets nothing but "}" stand here
		}
		if seen[name] {
			return fmt.Errorf("%q is there twice", name)
		}
		seen[name] = true
		if err := value(name); err != nil {
			return err
		}
	}
}

var errNoJSON = errors.New("it is damaged: it is no JSON")

func next(d *json.Decoder) (json.Token, error) {
	t, err := d.Token()
	if err != nil {
		return nil, errNoJSON
	}
	return t, nil
}

// parseMetadata reads the metadata; null is none, as in Python's package.
func parseMetadata(d *json.Decoder) (map[string]string, error) {
	t, err := next(d)
	switch {
	case err != nil:
		return nil, err
	case t == nil:
		return nil, nil
	case t != json.Delim('{'):
		return nil, errors.New("an object is wanted")
	}
	metadata := map[string]string{}
	err = members(d, func(key string) error {
		t, err := next(d)
		if err != nil {
			return err
		}
		text, ok := t.(string)
		if !ok {
			return fmt.Errorf("the metadata %q are no text", key)
		}
		metadata[key] = text
		return nil
	})
	return metadata, err
}

// parseEntry reads what a header says of a tensor. Fields that it does not know are passed over, as
// Python's package does.
func parseEntry(d *json.Decoder) (e Entry, err error) {
	var kind, shape, offsets bool
	err = object(d, func(field string) error {
		switch field {
		case "dtype":
			t, err := next(d)
			if err != nil {
				return err
			}
			e.Type, kind = t.(string)
			return nil
		case "shape":
			dims, err := wholes(d, math.MaxInt)
			for _, n := range dims {
				e.Shape = append(e.Shape, int(n))
			}
			shape = true
			return err
		case "data_offsets":
			at, err := wholes(d, math.MaxInt64)
			if err == nil && len(at) == 2 {
				e.Begin, e.End, offsets = at[0], at[1], true
			}
			return err
		}
		if d.Decode(&json.RawMessage{}) != nil {
			return errNoJSON
		}
		return nil
	})
	if err == nil && !(kind && shape && offsets) {
		err = errors.New("it needs a dtype, a shape and two data_offsets")
	}
	return e, err
}

// wholes reads a list of numbers from 0 to most.
func wholes(d *json.Decoder, most int64) (list []int64, err error) {
	if t, err := next(d); err != nil {
		return nil, err
	} else if t != json.Delim('[') {
		return nil, errors.New("a list of numbers is wanted")
	}
	for {
		t, err := next(d)
		switch t := t.(type) {
		case json.Number:
			n, err := strconv.ParseUint(t.String(), 10, 63)
			if err != nil || int64(n) > most {
				return nil, fmt.Errorf("%s is no whole number from 0 to %d", t, most)
			}
			list = append(list, int64(n))
		case json.Delim:
			if t == ']' {
				return list, nil
			}
			return nil, errors.New("a list of numbers is wanted")
		default:
			if err == nil {
				err = errors.New("a list of numbers is wanted")
			}
			return nil, err
		}
	}
}
