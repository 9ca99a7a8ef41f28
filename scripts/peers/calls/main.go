// Calls runs operations that are named in JSON: one program a line of its input, one answer a line of its output.
// scripts/peers/tinygrad_ops.py writes its input.
//
//	go run ./scripts/peers/calls [-device cpu]
//
// A program is a list of steps, whose results later steps name by their places:
//
//	{"steps": [
//	  {"type": "float32", "shape": [2], "data": "AACAPwAAAEA=", "param": true},
//	  {"call": "Sum", "args": [{"ref": 0}, 0]}],
//	 "result": {"ref": 1}, "params": [0]}
//
// The answer has the result, and if there are params, the gradients of its sum: {"arrays": […]}, or {"error": "…"}.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
	"github.com/x448/float16"
)

type array struct {
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
	Data  []byte `json:"data"` // the elements, little-endian
}

// step is data, or a call of a method of its first argument, or of a function if its name has a dot.
type step struct {
	array
	Param bool   `json:"param"`
	Call  string `json:"call"`
	Args  []any  `json:"args"`
}

type program struct {
	Steps  []step `json:"steps"`
	Result any    `json:"result"`
	Params []int  `json:"params"`
}

type answer struct {
	Arrays []array `json:"arrays,omitempty"`
	Error  string  `json:"error,omitempty"`
}

func main() {
	device := flag.String("device", "cpu", "the `device`, as tensor.Open names it")
	flag.Parse()
	if err := serve(*device); err != nil {
		fmt.Fprintln(os.Stderr, "calls:", err)
		os.Exit(1)
	}
}

func serve(device string) error {
	d, err := tensor.Open(device)
	if err != nil {
		return err
	}
	defer d.Close()
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		a, err := answerTo(d, line)
		if err != nil {
			a = answer{Error: err.Error()}
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

func answerTo(d tensor.Device, line []byte) (a answer, err error) {
	var p program
	if err := json.Unmarshal(line, &p); err != nil {
		return a, err
	}
	tensor.Scope(d, func() {
		if refused := tensor.Try(func() { a, err = run(d, p) }); refused != nil {
			err = refused
		}
	})
	return a, err
}

func run(d tensor.Device, p program) (a answer, err error) {
	m := machine{device: d}
	for _, s := range p.Steps {
		var results []any
		if s.Call == "" {
			results, err = m.load(s)
		} else {
			results, err = m.call(s)
		}
		if err != nil {
			return a, err
		}
		m.results = append(m.results, results)
	}
	y, err := m.node(p.Result)
	if err != nil {
		return a, err
	}
	nodes := []*autograd.Node{y}
	if len(p.Params) > 0 {
		var xs []*autograd.Node
		for _, i := range p.Params {
			xs = append(xs, m.results[i][0].(*autograd.Node))
		}
		grads, err := autograd.Grad(y.Sum(), xs, autograd.GradOptions{Retain: true})
		if err != nil {
			return a, err
		}
		nodes = append(nodes, grads...)
	}
	for _, n := range nodes {
		r, err := read(n.Value())
		if err != nil {
			return a, err
		}
		a.Arrays = append(a.Arrays, r)
	}
	return a, nil
}

func (m *machine) load(s step) ([]any, error) {
	l, ok := types[s.Type]
	if !ok {
		return nil, fmt.Errorf("there is no type %q", s.Type)
	}
	t, err := l.load(m.device, s.array)
	if err != nil {
		return nil, err
	}
	if s.Param {
		return []any{autograd.Param(t, "x")}, nil
	}
	return []any{autograd.Const(t)}, nil
}

func read(t *tensor.Tensor) (array, error) {
	for name, l := range types {
		if l.typ == t.Type() {
			data, err := l.read(t)
			return array{name, slices.Clone(t.Shape()), data}, err
		}
	}
	return array{}, fmt.Errorf("a tensor of %v cannot be read", t.Type())
}

// elements are how the elements of a type travel.
type elements struct {
	typ  tensor.Type
	load func(tensor.Device, array) (*tensor.Tensor, error)
	read func(*tensor.Tensor) ([]byte, error)
}

func of[T tensor.Element]() elements {
	return elements{
		typ: tensor.TypeOf[T](),
		load: func(d tensor.Device, a array) (*tensor.Tensor, error) {
			n := 1
			for _, dim := range a.Shape {
				n *= dim
			}
			data := make([]T, n)
			if _, err := binary.Decode(a.Data, binary.LittleEndian, data); err != nil {
				return nil, err
			}
			return tensor.New(d, data, a.Shape...), nil
		},
		read: func(t *tensor.Tensor) ([]byte, error) {
			values, err := tensor.Read[T](t)
			if err != nil {
				return nil, err
			}
			var b bytes.Buffer
			err = binary.Write(&b, binary.LittleEndian, values)
			return b.Bytes(), err
		},
	}
}

// types are named as PyTorch names them.
var types = map[string]elements{
	"bool": of[bool](), "int8": of[int8](), "uint8": of[uint8](), "int16": of[int16](), "uint16": of[uint16](),
	"int32": of[int32](), "uint32": of[uint32](), "int64": of[int64](), "uint64": of[uint64](),
	"float16": of[float16.Float16](), "float32": of[float32](), "float64": of[float64](),
}
