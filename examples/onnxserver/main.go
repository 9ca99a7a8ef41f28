// Onnxserver answers requests over HTTP with any ONNX model of tensors.
//
//	go run ./examples/onnxserver --model model.onnx
//	curl localhost:8080/predict -d '{"x": [[1, 2, 3]]}'
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/serve"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
	"github.com/x448/float16"
)

var (
	file     = pflag.String("model", "", "an ONNX `file`")
	devices  = pflag.StringSlice("device", []string{""}, "what to compute on, such as cpu, opencl or nvidia; several with commas between")
	address  = pflag.String("addr", "localhost:8080", "`address` to listen on; port 0 is one that is free")
	batch    = pflag.Int("batch", 1, "most `rows` that are computed together; above 1 the first axis of all inputs and outputs counts rows")
	wait     = pflag.Duration("wait", 2*time.Millisecond, "`time` that a request waits for others where a device is idle")
	queue    = pflag.Int("queue", 256, "`requests` that wait; more are refused")
	largest  = pflag.Int64("limit", 32, "`MiB` of a request; larger ones are refused")
	patience = pflag.Duration("timeout", 30*time.Second, "`time` after which a request gets no answer")
)

// leave is how long requests may take that are there when the server is to end.
const leave = 10 * time.Second

func main() { program.Interruptible("onnxserver", run) }

func run(ctx context.Context) error {
	if *batch < 1 || *queue < 1 || *largest < 1 || *largest > 1<<20 || *wait < 0 || *patience <= 0 {
		return errors.New("batch, queue and limit are at least 1, limit is at most 1048576, wait is no less than 0, and timeout above it")
	}
	if *file == "" {
		return errors.New("say which model: --model FILE")
	}
	model, err := onnx.Open(*file)
	if err != nil {
		return err
	}
	if err := check(model); err != nil {
		return err
	}
	var workers []serve.Worker
	for _, sel := range *devices {
		d, err := tensor.Open(sel, tensor.Options{Builds: program.Builds})
		if err != nil {
			return err
		}
		defer d.Close()
		session, err := model.Load(d)
		if err != nil {
			return err
		}
		workers = append(workers, serve.Worker{Device: d, Run: session.RunTensors})
	}
	p, err := serve.New(workers, serve.Config{MaxBatch: *batch, Delay: *wait, Queue: *queue})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return errors.Join(err, p.Close(context.Background()))
	}
	server := &http.Server{Handler: handler(model, p), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute,
		WriteTimeout: time.Minute + *patience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(os.Stderr, "listening on http://%s\n", listener.Addr())
	select {
	case <-ctx.Done():
	case <-p.Done(): // the last device has failed
	case err = <-served:
	}
	end, cancel := context.WithTimeout(context.Background(), leave)
	defer cancel()
	return errors.Join(err, server.Shutdown(end), p.Close(end), p.Err())
}

// check reports a model whose inputs are not all tensors that JSON has numbers for, and one of which
// rows cannot be computed together.
func check(m *onnx.Model) error {
	for _, info := range m.Inputs() {
		if typ, ok := info.TensorType(); !ok || listOf(typ) == nil {
			return fmt.Errorf("the model takes %v: only tensors of numbers and bools can be sent", info)
		}
	}
	for _, info := range slices.Concat(m.Inputs(), m.Outputs()) {
		if _, ok := info.TensorType(); !ok {
			return fmt.Errorf("the model has %v: only tensors can be sent", info)
		}
		if *batch == 1 || info.Dims == nil {
			continue
		}
		if len(info.Dims) == 0 {
			return fmt.Errorf("%v has no rows: --batch must be 1", info)
		}
		if _, err := strconv.Atoi(info.Dims[0]); err == nil {
			return fmt.Errorf("%v has always the same rows: --batch must be 1", info)
		}
	}
	return nil
}

// handler answers
//
//	POST /predict   {"input": nested lists, …} with {"output": nested lists, …}
//	GET /           what the model takes and gives
//	GET /metrics    what Prometheus reads
//	GET /healthz    200 while a device works, else 503
func handler(m *onnx.Model, p *serve.Predictor) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /predict", func(w http.ResponseWriter, r *http.Request) {
		body := http.MaxBytesReader(w, r.Body, *largest<<20)
		inputs, err := parse(body, m.Inputs())
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is larger than %d MiB", *largest))
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			refuse(w, http.StatusRequestTimeout, "the request came too slowly")
			return
		case err != nil:
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), *patience)
		defer cancel()
		outputs, err := p.Predict(ctx, inputs...)
		if err != nil {
			fail(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer(m.Outputs(), outputs)) // a client that has left does not read it
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		signature := func(list []onnx.Info) (names []string) {
			for _, info := range list {
				names = append(names, info.String())
			}
			return names
		}
		reply(w, http.StatusOK, map[string]any{"inputs": signature(m.Inputs()), "outputs": signature(m.Outputs())})
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_ = serve.WriteMetrics(w, p)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-p.Done():
			refuse(w, http.StatusServiceUnavailable, "no device works")
		default:
			reply(w, http.StatusOK, map[string]any{"status": "ok"})
		}
	})
	return mux
}

// fail says why there is no answer.
func fail(w http.ResponseWriter, err error) {
	var misuse *tensor.Error
	switch {
	case errors.Is(err, serve.ErrInput), errors.As(err, &misuse): // an index out of range, sizes that do not go together
		refuse(w, http.StatusBadRequest, err.Error())
	case errors.Is(err, serve.ErrFull):
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "too many requests wait: try again in a second")
	case errors.Is(err, serve.ErrClosed):
		refuse(w, http.StatusServiceUnavailable, "the server ends")
	case errors.Is(err, context.DeadlineExceeded):
		refuse(w, http.StatusGatewayTimeout, fmt.Sprintf("there was no answer in %v", *patience))
	case errors.Is(err, context.Canceled): // the client has left
	default:
		fmt.Fprintln(os.Stderr, "onnxserver:", err)
		refuse(w, http.StatusInternalServerError, "the model failed")
	}
}

func refuse(w http.ResponseWriter, status int, why string) {
	reply(w, status, map[string]any{"error": why})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// parse returns the inputs of a request in the order of the model.
func parse(body io.Reader, infos []onnx.Info) ([]data.Array, error) {
	decoder := json.NewDecoder(body)
	decoder.UseNumber()
	if t, err := decoder.Token(); err != nil || t != json.Delim('{') {
		return nil, notJSON(err, `the request is not {"input": lists of numbers, …}, with inputs %v`, infos)
	}
	inputs := make([]data.Array, len(infos))
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, notJSON(err, "the request is no JSON")
		}
		i := slices.IndexFunc(infos, func(info onnx.Info) bool { return info.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("the model has no input %q: it takes %v", name, infos)
		}
		if inputs[i].Shape() != nil {
			return nil, fmt.Errorf("input %q is there twice", name)
		}
		if inputs[i], err = parseInput(decoder, infos[i]); err != nil {
			return nil, err
		}
	}
	if _, err := decoder.Token(); err != nil { // }
		return nil, notJSON(err, "the request is no JSON")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, notJSON(err, "something follows the object")
	}
	sizes := map[string]int{} // of dimensions with a name
	for i, info := range infos {
		if inputs[i].Shape() == nil {
			return nil, fmt.Errorf("input %v is missing", info)
		}
		if err := fits(inputs[i].Shape(), info, sizes); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// notJSON returns an error with what the decoder says, which may be that the request is too large.
func notJSON(err error, format string, args ...any) error {
	if message := fmt.Sprintf(format, args...); err != nil {
		return fmt.Errorf("%s: %w", message, err)
	} else {
		return errors.New(message)
	}
}

// fits reports a shape that an input may not have. A list of one is a scalar.
func fits(shape []int, info onnx.Info, sizes map[string]int) error {
	wrong := fmt.Errorf("input %q has shape %v, and the model takes %v", info.Name, shape, info)
	switch {
	case info.Dims == nil, len(info.Dims) == 0 && len(shape) == 1 && shape[0] == 1:
		return nil
	case len(info.Dims) != len(shape):
		return wrong
	}
	for i, dim := range info.Dims {
		if n, err := strconv.Atoi(dim); err == nil {
			if n != shape[i] {
				return wrong
			}
		} else if before, known := sizes[dim]; known && before != shape[i] && dim != "?" {
			return fmt.Errorf("%w: %s is %d of another input", wrong, dim, before)
		} else {
			sizes[dim] = shape[i]
		}
	}
	return nil
}

// parseInput reads nested lists of numbers as an array of an input's type.
func parseInput(decoder *json.Decoder, info onnx.Info) (data.Array, error) {
	typ, _ := info.TensorType()
	l := listOf(typ)
	var shape []int // −1 while it is not known
	full := false   // there is an element: lists are not nested deeper
	fail := func(err error, why string, args ...any) error {
		return notJSON(err, "input %q: %s, and the model takes %v", info.Name, fmt.Sprintf(why, args...), info)
	}
	var read func(axis int) error
	read = func(axis int) error {
		token, err := decoder.Token()
		if err != nil {
			return fail(err, "it ends too soon or is no JSON")
		}
		if token != json.Delim('[') {
			if len(shape) != axis {
				return fail(nil, "some lists are nested deeper than others")
			}
			if full = true; !l.add(token) {
				if token == nil {
					token = "null"
				}
				return fail(nil, "%.40v is no %v", token, typ)
			}
			return nil
		}
		if axis == len(shape) && full {
			return fail(nil, "some lists are nested deeper than others")
		}
		if axis == tensor.MaxRank {
			return fail(nil, "lists are nested deeper than %d", axis)
		}
		if axis == len(shape) {
			shape = append(shape, -1)
		}
		n := 0
		for ; decoder.More(); n++ {
			if err := read(axis + 1); err != nil {
				return err
			}
		}
		if _, err := decoder.Token(); err != nil { // ]
			return fail(err, "it ends too soon or is no JSON")
		}
		if shape[axis] >= 0 && shape[axis] != n {
			return fail(nil, "lists beside each other have %d and %d elements", shape[axis], n)
		}
		shape[axis] = n
		return nil
	}
	if err := read(0); err != nil {
		return data.Array{}, err
	}
	if shape == nil {
		shape = []int{1}
	}
	return l.array(shape), nil
}

// list is the elements of an array that is read.
type list interface {
	add(token json.Token) bool // false: it is no element
	array(shape []int) data.Array
}

type elements[T tensor.Element] struct {
	values []T
	parse  func(token json.Token) (T, error)
}

func (e *elements[T]) add(token json.Token) bool {
	v, err := e.parse(token)
	e.values = append(e.values, v)
	return err == nil
}

func (e *elements[T]) array(shape []int) data.Array { return data.New(e.values, shape...) }

// listOf returns an empty list for elements of a type, or nil if JSON has none.
func listOf(typ tensor.Type) list {
	switch typ {
	case tensor.Bool:
		return &elements[bool]{parse: func(token json.Token) (bool, error) {
			v, ok := token.(bool)
			if !ok {
				return false, strconv.ErrSyntax
			}
			return v, nil
		}}
	case tensor.Float16:
		return floats(32, func(v float64) float16.Float16 { return float16.Fromfloat32(float32(v)) })
	case tensor.BFloat16:
		return floats(32, func(v float64) bfloat16.BFloat16 { return bfloat16.FromFloat32(float32(v)) })
	case tensor.Float32:
		return floats(32, func(v float64) float32 { return float32(v) })
	case tensor.Float64:
		return floats(64, func(v float64) float64 { return v })
	case tensor.Int8:
		return integers[int8](8)
	case tensor.Int16:
		return integers[int16](16)
	case tensor.Int32:
		return integers[int32](32)
	case tensor.Int64:
		return integers[int64](64)
	case tensor.Uint8:
		return unsigned[uint8](8)
	case tensor.Uint16:
		return unsigned[uint16](16)
	case tensor.Uint32:
		return unsigned[uint32](32)
	case tensor.Uint64:
		return unsigned[uint64](64)
	}
	return nil
}

// floats reads numbers, and those that JSON has none for as strings: "NaN", "Infinity", "-Infinity".
func floats[T tensor.Element](bits int, convert func(v float64) T) list {
	return &elements[T]{parse: func(token json.Token) (T, error) {
		text, ok := token.(string)
		if n, number := token.(json.Number); number {
			text = string(n)
		} else if !ok || !slices.Contains([]string{"NaN", "Infinity", "-Infinity"}, text) {
			return convert(0), strconv.ErrSyntax
		}
		v, err := strconv.ParseFloat(text, bits)
		return convert(v), err
	}}
}

func integers[T int8 | int16 | int32 | int64](bits int) list {
	return &elements[T]{parse: func(token json.Token) (T, error) {
		n, _ := token.(json.Number)
		v, err := strconv.ParseInt(string(n), 10, bits)
		return T(v), err
	}}
}

func unsigned[T uint8 | uint16 | uint32 | uint64](bits int) list {
	return &elements[T]{parse: func(token json.Token) (T, error) {
		n, _ := token.(json.Number)
		v, err := strconv.ParseUint(string(n), 10, bits)
		return T(v), err
	}}
}

// answer returns outputs as JSON, by name.
func answer(infos []onnx.Info, outputs []data.Array) []byte {
	b := []byte("{")
	for i, a := range outputs {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(infos[i].Name)
		b = append(append(b, name...), ':')
		b = appendLists(b, a.Shape(), element(a))
	}
	return append(b, "}\n"...)
}

// appendLists appends nested lists of a shape.
func appendLists(b []byte, shape []int, next func(b []byte) []byte) []byte {
	if len(shape) == 0 {
		return next(b)
	}
	b = append(b, '[')
	for i := range shape[0] {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendLists(b, shape[1:], next)
	}
	return append(b, ']')
}

// element returns a function that appends the elements of an array, one with each call.
func element(a data.Array) func(b []byte) []byte {
	switch a.Type() {
	case tensor.Bool:
		return each(a, strconv.AppendBool)
	case tensor.Float32:
		return each(a, func(b []byte, v float32) []byte { return appendFloat(b, float64(v), 32) })
	case tensor.Float64:
		return each(a, func(b []byte, v float64) []byte { return appendFloat(b, v, 64) })
	case tensor.Uint64:
		return each(a, func(b []byte, v uint64) []byte { return strconv.AppendUint(b, v, 10) })
	}
	return each(a.To(tensor.Int64), func(b []byte, v int64) []byte { return strconv.AppendInt(b, v, 10) })
}

func each[T tensor.Element](a data.Array, appendOne func(b []byte, v T) []byte) func(b []byte) []byte {
	values, i := data.Elements[T](a), 0
	return func(b []byte) []byte {
		i++
		return appendOne(b, values[i-1])
	}
}

func appendFloat(b []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}
