package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/serve"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"onnxserver": main}) }

// perceptron is a model of y = relu(x·w + b), with x of [batch, 3] and y of [batch, 2].
const perceptron = "../../testdata/onnx/perceptron.onnx"

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	exampletest.Scripts(t, func(folder string) error { return exec.Command("cp", perceptron, folder).Run() })
}

func opened(t *testing.T, path string) *onnx.Model {
	t.Helper()
	m, err := onnx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// worker returns a worker of a model on the Go device.
func worker(t *testing.T, m *onnx.Model) serve.Worker {
	t.Helper()
	d := devtest.Open(t, "cpu", tensor.Options{})
	session, err := m.Load(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return serve.Worker{Device: d, Run: session.RunTensors}
}

// running returns a server of a model, which ends with the test.
func running(t *testing.T, m *onnx.Model, w serve.Worker, cfg serve.Config) string {
	t.Helper()
	p, err := serve.New([]serve.Worker{w}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler(m, p))
	t.Cleanup(func() {
		s.Close()
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s.URL
}

// ask sends a request and returns the status and the text of the answer.
func ask(t *testing.T, method, url, body string) (status int, header http.Header, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return answer.StatusCode, answer.Header, string(all)
}

// TestPredict: many clients get the rows that are theirs, alone and in batches.
func TestPredict(t *testing.T) {
	m := opened(t, perceptron)
	for _, batch := range []int{1, 8} {
		url := running(t, m, worker(t, m), serve.Config{MaxBatch: batch})
		var clients sync.WaitGroup
		for i := range 20 {
			clients.Go(func() {
				for range 3 {
					body, want := `{"x": [[1, 2, 3]]}`, `{"y":[[5.5,7.5]]}`
					if i%2 == 1 {
						body, want = ` { "x" : [ [ 0 , 0 , 0.0 ], [1e0, 2, 3] ] } `, `{"y":[[0.5,0],[5.5,7.5]]}`
					}
					if status, header, got := ask(t, "POST", url+"/predict", body); status != 200 || got != want+"\n" || header.Get("Content-Type") != "application/json" {
						t.Errorf("batch %d: status %d, %s", batch, status, got)
					}
				}
			})
		}
		clients.Wait()
	}
}

// TestPages: what the model takes, whether it works, and metrics.
func TestPages(t *testing.T) {
	m := opened(t, perceptron)
	w := worker(t, m)
	p, err := serve.New([]serve.Worker{w}, serve.Config{MaxBatch: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler(m, p))
	defer s.Close()
	for path, want := range map[string]string{
		"/":        `{"inputs":["x: float[batch,3]"],"outputs":["y: float[batch,2]"]}`,
		"/healthz": `{"status":"ok"}`,
		"/metrics": `clgrad_serve_requests_total{outcome="ok"} 0`,
	} {
		if status, _, got := ask(t, "GET", s.URL+path, ""); status != 200 || !strings.Contains(got, want) {
			t.Errorf("%s: status %d, %s", path, status, got)
		}
	}
	for path, want := range map[string]int{"/predict": 405, "/nothing": 404} {
		if status, _, _ := ask(t, "GET", s.URL+path, ""); status != want {
			t.Errorf("%s: status %d", path, status)
		}
	}
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if status, _, got := ask(t, "GET", s.URL+"/healthz", ""); status != 503 {
		t.Errorf("it is closed: status %d, %s", status, got)
	}
	if status, _, got := ask(t, "POST", s.URL+"/predict", `{"x": [[1, 2, 3]]}`); status != 503 {
		t.Errorf("it is closed: status %d, %s", status, got)
	}
}

// TestBadRequests: what the model does not take is refused with the name of the input and what is expected.
func TestBadRequests(t *testing.T) {
	exampletest.Set(t, largest, 1)
	m := opened(t, perceptron)
	url := running(t, m, worker(t, m), serve.Config{MaxBatch: 1})
	const takes = "the model takes x: float[batch,3]"
	for body, says := range map[string]string{
		``:                                     `the request is not {"input": lists of numbers, …}, with inputs [x: float[batch,3]]`,
		`hello`:                                "the request is not",
		`[1]`:                                  "the request is not",
		`{`:                                    "the request is no JSON",
		`{"x": [[1, 2, 3]]`:                    "the request is no JSON",
		`{}`:                                   "input x: float[batch,3] is missing",
		`{"z": [[1, 2, 3]]}`:                   `the model has no input "z": it takes [x: float[batch,3]]`,
		`{"x": [[1, 2, 3]], "x": [[1, 2, 3]]}`: `input "x" is there twice`,
		`{"x": [[1, 2, 3]]} 1`:                 "something follows the object",
		`{"x": [[1, 2, 3]`:                     `input "x": it ends too soon or is no JSON, and ` + takes,
		`{"x": [[1, 2, 3}`:                     `input "x": it ends too soon or is no JSON, and ` + takes,
		`{"x": [1, 2, 3]}`:                     `input "x" has shape [3], and ` + takes,
		`{"x": 1}`:                             `input "x" has shape [1], and ` + takes,
		`{"x": [[1, 2]]}`:                      `input "x" has shape [1 2], and ` + takes,
		`{"x": []}`:                            `input "x" has shape [0], and ` + takes,
		`{"x": [[]]}`:                          `input "x" has shape [1 0], and ` + takes,
		`{"x": [[1, 2, 3], [1, 2]]}`:           `input "x": lists beside each other have 3 and 2 elements, and ` + takes,
		`{"x": [[1, 2, 3], 4]}`:                `input "x": some lists are nested deeper than others, and ` + takes,
		`{"x": [1, [2]]}`:                      `input "x": some lists are nested deeper than others, and ` + takes,
		`{"x": [[], 1]}`:                       `input "x": some lists are nested deeper than others, and ` + takes,
		`{"x": [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}`: `input "x": lists are nested deeper than 16, and ` + takes,
		`{"x": [[1, 2, "3"]]}`:                       `input "x": 3 is no float32, and ` + takes,
		`{"x": [[1, 2, null]]}`:                      `input "x": null is no float32, and ` + takes,
		`{"x": [[1, 2, true]]}`:                      `input "x": true is no float32, and ` + takes,
		`{"x": [[1, 2, 1e99]]}`:                      `input "x": 1e99 is no float32, and ` + takes,
		`{"x": {"y": 1}}`:                            `input "x": { is no float32, and ` + takes,
		`{"x": "` + strings.Repeat("a", 99) + `"}`:   `input "x": ` + strings.Repeat("a", 40) + " is no float32, and ",
	} {
		status, _, text := ask(t, "POST", url+"/predict", body)
		var got struct{ Error string }
		if err := json.Unmarshal([]byte(text), &got); err != nil || status != 400 || !strings.Contains(got.Error, says) {
			t.Errorf("%s: status %d, %s", body, status, text)
		}
	}
	if status, _, text := ask(t, "POST", url+"/predict", `{"x": [`+strings.Repeat(" ", 1<<20)+`[1, 2, 3]]}`); status != 413 || !strings.Contains(text, "larger than 1 MiB") {
		t.Errorf("status %d, %s", status, text)
	}
}

// TestTypes: numbers of every type come in and go out, and those that the type does not have are refused.
func TestTypes(t *testing.T) {
	for typ, c := range map[string]struct{ body, want, refused string }{
		"bool":     {"[true, false]", "[true,false]", "1"},
		"int8":     {"[-128, 127]", "[-128,127]", "128"},
		"int16":    {"[-32768]", "[-32768]", "32768"},
		"int32":    {"[[2147483647]]", "[[2147483647]]", "2147483648"},
		"int64":    {"9007199254740993", "[9007199254740993]", "1.5"},
		"uint8":    {"[255]", "[255]", "-1"},
		"uint16":   {"[65535]", "[65535]", "65536"},
		"uint32":   {"[4294967295]", "[4294967295]", "4294967296"},
		"uint64":   {"[18446744073709551615]", "[18446744073709551615]", "18446744073709551616"},
		"float":    {`[0.1, "NaN", "Infinity", "-Infinity", -0.0, 1e-45]`, `[0.1,"NaN","Infinity","-Infinity",-0,1e-45]`, `"inf"`},
		"double":   {"[0.1, 1e300]", "[0.1,1e+300]", "1e400"},
		"float16":  {"[0.1]", "[0.099975586]", "true"},
		"bfloat16": {"[0.1]", "[0.100097656]", "[]"},
	} {
		infos := []onnx.Info{{Name: "a b", Type: typ}}
		inputs, err := parse(strings.NewReader(`{"a b": `+c.body+`}`), infos)
		if err != nil {
			t.Errorf("%s: %v", typ, err)
			continue
		}
		if want, _ := infos[0].TensorType(); inputs[0].Type() != want {
			t.Errorf("%s: %v", typ, inputs[0].Type())
		}
		d := devtest.CPU(t)
		back, err := data.FromTensor(inputs[0].Tensor(d)) // as an output comes
		if err != nil {
			t.Fatal(err)
		}
		if got := string(answer(infos, []data.Array{back})); got != `{"a b":`+c.want+"}\n" {
			t.Errorf("%s: %s", typ, got)
		}
		if _, err := parse(strings.NewReader(`{"a b": [`+c.refused+`, `+c.refused+`]}`), infos); typ != "bfloat16" && (err == nil || !strings.Contains(err.Error(), " is no ")) {
			t.Errorf("%s: %s: err %v", typ, c.refused, err)
		}
	}
	empty, err := parse(strings.NewReader(`{"x": [[], []]}`), []onnx.Info{{Name: "x", Type: "float"}})
	if err != nil || !slices.Equal(empty[0].Shape(), []int{2, 0}) {
		t.Fatalf("%v, err %v", empty, err)
	}
	if got := string(answer([]onnx.Info{{Name: "x"}}, empty)); got != "{\"x\":[[],[]]}\n" {
		t.Error(got)
	}
}

// TestSizes: a dimension with a name has one size in all inputs, and a scalar may come as a number.
func TestSizes(t *testing.T) {
	infos := []onnx.Info{
		{Name: "x", Type: "float", Dims: []string{"n", "?"}}, {Name: "y", Type: "float", Dims: []string{"n", "?"}}, {Name: "s", Type: "int64", Dims: []string{}},
	}
	if _, err := parse(strings.NewReader(`{"s": 3, "x": [[1], [2]], "y": [[1, 2], [3, 4]]}`), infos); err != nil {
		t.Error(err)
	}
	for body, says := range map[string]string{
		`{"s": 3, "x": [[1], [2]], "y": [[1, 2]]}`: `input "y" has shape [1 2], and the model takes y: float[n,?]: n is 2 of another input`,
		`{"s": [1, 2], "x": [[1]], "y": [[1]]}`:    `input "s" has shape [2], and the model takes s: int64[]`,
	} {
		if _, err := parse(strings.NewReader(body), infos); err == nil || err.Error() != says {
			t.Errorf("%s: err %v", body, err)
		}
	}
}

// blocking returns a worker that says when it begins, and waits until it may.
func blocking(t *testing.T, m *onnx.Model) (w serve.Worker, begun, proceed chan bool) {
	w = worker(t, m)
	run := w.Run
	begun, proceed = make(chan bool, 10), make(chan bool)
	w.Run = func(in ...*tensor.Tensor) ([]*tensor.Tensor, error) {
		begun <- true
		<-proceed
		return run(in...)
	}
	return w, begun, proceed
}

// TestFull: with as many requests as may wait another is refused, and those that wait are answered.
func TestFull(t *testing.T) {
	m := opened(t, perceptron)
	w, begun, proceed := blocking(t, m)
	url := running(t, m, w, serve.Config{MaxBatch: 1, Queue: 1})
	const body = `{"x": [[1, 2, 3]]}`
	var clients sync.WaitGroup
	answered := func() {
		if status, _, text := ask(t, "POST", url+"/predict", body); status != 200 {
			t.Errorf("status %d, %s", status, text)
		}
	}
	clients.Go(answered)
	<-begun
	clients.Go(answered)
	for {
		if _, _, text := ask(t, "GET", url+"/metrics", ""); strings.Contains(text, "clgrad_serve_queue_length 1\n") {
			break
		}
	}
	status, header, text := ask(t, "POST", url+"/predict", body)
	if status != 503 || header.Get("Retry-After") != "1" || !strings.Contains(text, "try again") {
		t.Errorf("status %d, %s", status, text)
	}
	close(proceed)
	clients.Wait()
}

// TestSlow: a request that gets no answer in time gets an error.
func TestSlow(t *testing.T) {
	exampletest.Set(t, patience, time.Millisecond)
	m := opened(t, perceptron)
	w, _, proceed := blocking(t, m)
	url := running(t, m, w, serve.Config{MaxBatch: 1})
	defer close(proceed)
	if status, _, text := ask(t, "POST", url+"/predict", `{"x": [[1, 2, 3]]}`); status != 504 || !strings.Contains(text, "no answer in 1ms") {
		t.Errorf("status %d, %s", status, text)
	}
}

// TestModelFails: what the model says of its inputs is the client's, other failures are the server's.
func TestModelFails(t *testing.T) {
	m := opened(t, perceptron)
	w := worker(t, m)
	for want, failure := range map[int]func() error{
		400: func() error { return &tensor.Error{Op: "Gather", Kind: tensor.ErrIndex} },
		500: func() error { panic("a secret") },
	} {
		bad := serve.Worker{Device: w.Device, Run: func(...*tensor.Tensor) ([]*tensor.Tensor, error) { return nil, failure() }}
		url := running(t, m, bad, serve.Config{MaxBatch: 1})
		if status, _, text := ask(t, "POST", url+"/predict", `{"x": [[1, 2, 3]]}`); status != want || strings.Contains(text, "secret") {
			t.Errorf("status %d, %s", status, text)
		}
	}
}

// TestRealModels: models that others trained answer with onnxruntime's numbers.
func TestRealModels(t *testing.T) {
	for _, name := range []string{"silero_vad_v6", "magika_standard_v3_3"} {
		pairs, err := data.LoadNPZ("../../../shared/onnx/pairs/" + name + ".npz")
		if err != nil {
			t.Skip("../shared/onnx is not there")
		}
		m := opened(t, "../../../shared/onnx/models/"+name+".onnx")
		url := running(t, m, worker(t, m), serve.Config{MaxBatch: 1})
		var infos []onnx.Info
		var inputs []data.Array
		for _, info := range m.Inputs() {
			infos, inputs = append(infos, info), append(inputs, pairs["in:"+info.Name])
		}
		status, _, text := ask(t, "POST", url+"/predict", string(answer(infos, inputs)))
		if status != 200 {
			t.Fatalf("%s: status %d, %s", name, status, text)
		}
		outputs, err := parse(strings.NewReader(text), m.Outputs())
		if err != nil {
			t.Fatal(err)
		}
		for i, info := range m.Outputs() {
			want := data.Elements[float32](pairs["out:"+info.Name])
			for k, v := range data.Elements[float32](outputs[i]) {
				if math.Abs(float64(v-want[k])) > 1e-4+1e-3*math.Abs(float64(want[k])) {
					t.Errorf("%s: %s has %v at %d, and should have %v", name, info.Name, v, k, want[k])
					break
				}
			}
		}
	}
}

// TestProgram: the program serves a model on two devices in batches, and asked to end it answers the
// request that is there first.
func TestProgram(t *testing.T) {
	cmd := exec.Command("onnxserver", "--model", perceptron, "--device", "cpu,cpu", "--batch", "4", "--addr", "localhost:0")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	var url string
	if _, err := fmt.Fscanf(out, "listening on %s\n", &url); err != nil {
		t.Fatal(err)
	}
	// The signal comes when the server has begun to read the request.
	begun, rest := io.Pipe()
	go func() {
		_, err := io.WriteString(rest, `{"x": [`)
		if err == nil {
			err = cmd.Process.Signal(syscall.SIGTERM)
		}
		if err == nil {
			_, err = io.WriteString(rest, `[1, 2, 3]]}`)
		}
		rest.CloseWithError(err)
	}()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url+"/predict", begun)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Expect", "100-continue")
	answer, err := (&http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != 200 || string(text) != "{\"y\":[[5.5,7.5]]}\n" {
		t.Errorf("status %d, %s, err %v", answer.StatusCode, text, err)
	}
	said, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || len(bytes.TrimSpace(said)) > 0 {
		t.Errorf("ended with %v, said %q", err, said)
	}
}
