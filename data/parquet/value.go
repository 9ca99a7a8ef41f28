package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/clgrad/clgrad/data"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/x448/float16"
)

// kind is what a value is.
type kind uint8

const (
	missing kind = iota
	boolean
	integer
	unsigned
	floating
	text
)

// value is a value of a column.
type value struct {
	kind   kind
	bits   uint64 // of an integer or a bool; how many a float has
	number float64
	text   string // also of a decimal
}

// readerOf returns how values of a Parquet type are read.
func readerOf(t parquet.Type, logical format.LogicalTypeValue) func(parquet.Value) value {
	if l := t.LogicalType(); l != nil && l.Value != nil { // also where an old file says it in another way
		logical = l.Value
	}
	signed := true
	switch l := logical.(type) {
	case *format.DecimalType:
		return decimal(t.Kind(), int(l.Scale))
	case *format.IntType:
		signed = l.IsSigned
	case *format.Float16Type:
		return half
	}
	switch t.Kind() {
	case parquet.Boolean:
		return func(v parquet.Value) value {
			if v.Boolean() {
				return value{kind: boolean, bits: 1}
			}
			return value{kind: boolean}
		}
	case parquet.Int32:
		if !signed {
			return func(v parquet.Value) value { return value{kind: unsigned, bits: uint64(v.Uint32())} }
		}
		return func(v parquet.Value) value { return value{kind: integer, bits: uint64(int64(v.Int32()))} }
	case parquet.Int64:
		if !signed {
			return func(v parquet.Value) value { return value{kind: unsigned, bits: v.Uint64()} }
		}
		return func(v parquet.Value) value { return value{kind: integer, bits: uint64(v.Int64())} }
	case parquet.Int96:
		return timestamp
	case parquet.Float:
		return func(v parquet.Value) value { return realValue(float64(v.Float()), 32) }
	case parquet.Double:
		return func(v parquet.Value) value { return realValue(v.Double(), 64) }
	}
	return func(v parquet.Value) value { return value{kind: text, text: string(v.ByteArray())} }
}

// half reads a float16.
func half(v parquet.Value) value {
	b := v.ByteArray()
	if len(b) != 2 {
		panic("a float16 has two bytes")
	}
	return realValue(float64(float16.Frombits(binary.LittleEndian.Uint16(b)).Float32()), 32)
}

// realValue is a float of so many bits. NaN is what libraries write where a value is missing.
func realValue(v float64, bits uint64) value {
	if math.IsNaN(v) {
		return value{}
	}
	return value{kind: floating, number: v, bits: bits}
}

// decimal reads whole numbers of 10^-scale.
func decimal(k parquet.Kind, scale int) func(parquet.Value) value {
	const most = 10_000 // digits; more underflow to 0
	if scale < 0 || scale > most {
		panic(fmt.Sprintf("a decimal has a scale of %d", scale))
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	return func(v parquet.Value) value {
		n := new(big.Int)
		switch k {
		case parquet.Int32:
			n.SetInt64(int64(v.Int32()))
		case parquet.Int64:
			n.SetInt64(v.Int64())
		default:
			b := v.ByteArray()
			n.SetBytes(b)
			if len(b) > 0 && b[0] >= 1<<7 { // two's complement
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
		}
		exact := new(big.Rat).SetFrac(n, unit)
		nearest, _ := exact.Float64()
		return value{kind: floating, number: nearest, text: exact.FloatString(scale)}
	}
}

// timestamp reads a time of 96 bits as nanoseconds since 1970: a Julian day, and nanoseconds in that.
func timestamp(v parquet.Value) value {
	const epoch, day = 2440588, 24 * 60 * 60 * 1_000_000_000
	t := v.Int96()
	return value{kind: integer, bits: uint64((int64(t[2])-epoch)*day + int64(uint64(t[1])<<32|uint64(t[0])))}
}

// valueOf returns what a caller fills with.
func valueOf(v any) (value, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return value{kind: boolean, bits: 1}, true
		}
		return value{kind: boolean}, true
	case int:
		return value{kind: integer, bits: uint64(v)}, true
	case int64:
		return value{kind: integer, bits: uint64(v)}, true
	case float64:
		return value{kind: floating, number: v, bits: 64}, !math.IsNaN(v) && !math.IsInf(v, 0)
	case string:
		return value{kind: text, text: v}, true
	}
	return value{}, false
}

// String returns a value for people.
func (v value) String() string {
	switch v.kind {
	case boolean:
		return fmt.Sprint(v.bits != 0)
	case integer:
		return fmt.Sprint(int64(v.bits))
	case unsigned:
		return fmt.Sprint(v.bits)
	case floating:
		if v.text == "" {
			return strconv.FormatFloat(v.number, 'g', -1, int(v.bits))
		}
	}
	return v.text
}

// as returns a value in a type.
func as[T data.Number](v value) (T, error) {
	var out T
	if v.kind == text {
		return out, fmt.Errorf("%.40q is text: see Labels and Strings", v.text)
	}
	fits := false
	switch at := any(&out).(type) {
	case *bool:
		*at, fits = v.bits == 1, v.kind != floating && v.bits <= 1
	case *float32:
		wide := v.float()
		*at, fits = float32(wide), math.Abs(wide) <= math.MaxFloat32
	case *float64:
		*at = v.float()
		fits = !math.IsInf(*at, 0)
	case *int:
		fits = whole(v, at)
	case *int8:
		fits = whole(v, at)
	case *int16:
		fits = whole(v, at)
	case *int32:
		fits = whole(v, at)
	case *int64:
		fits = whole(v, at)
	case *uint8:
		fits = whole(v, at)
	case *uint16:
		fits = whole(v, at)
	case *uint32:
		fits = whole(v, at)
	case *uint64:
		fits = whole(v, at)
	}
	if !fits {
		return out, fmt.Errorf("%v is no %T", v, out)
	}
	return out, nil
}

// float returns a number as the nearest float64.
func (v value) float() float64 {
	switch v.kind {
	case integer:
		return float64(int64(v.bits))
	case floating:
		return v.number
	}
	return float64(v.bits)
}

// whole sets an integer to a value, and reports whether its type holds that.
func whole[T int | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](v value, at *T) bool {
	switch v.kind {
	case floating:
		const least, end = -0x1p63, 0x1p64
		if v.number != math.Trunc(v.number) || v.number < least || v.number >= end {
			return false
		}
		if v.number < 0 {
			v = value{kind: integer, bits: uint64(int64(v.number))}
		} else {
			v = value{kind: unsigned, bits: uint64(v.number)}
		}
		return whole(v, at)
	case integer:
		*at = T(int64(v.bits))
		return int64(*at) == int64(v.bits) && (*at < 0) == (int64(v.bits) < 0)
	}
	*at = T(v.bits)
	return uint64(*at) == v.bits && *at >= 0
}
