package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/serve"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"serve": main}) }

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	exampletest.Scripts(t, func(folder string) error {
		d := devtest.CPU(t)
		other := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 2})
		return tensor.SaveSafetensors(folder+"/other.safetensors", nn.StateDict(other))
	})
}

// made returns a net with some weights.
func made(d tensor.Device) nn.Module {
	net := newNet(d, tensor.NewRNG(7))
	nn.Eval(net)
	return net
}

// running returns a server of workers, and its predictor.
func running(t *testing.T, patience time.Duration, workers ...serve.Worker) (*httptest.Server, *serve.Predictor) {
	t.Helper()
	p, err := newPredictor(workers...)
	if err != nil {
		t.Fatal(err)
	}
	return served(t, patience, p), p
}

// served returns a server of a predictor: both end with the test.
func served(t *testing.T, patience time.Duration, p *serve.Predictor) *httptest.Server {
	s := httptest.NewServer(handler(p, patience))
	t.Cleanup(func() {
		s.Close()
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// probabilities returns what a worker computes for pictures.
func probabilities(t *testing.T, w serve.Worker, images []float32) []float32 {
	t.Helper()
	var p []float32
	tensor.Scope(w.Device, func() {
		out, err := w.Run(tensor.New(w.Device, images, len(images)/pixels, 1, 8, 8))
		if err == nil {
			p, err = out[0].Float32s()
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	return p
}

// drawn returns some picture, and the request for it.
func drawn(seed uint64) (image []float32, body string) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range pixels {
		image = append(image, float32(rng.IntN(17)))
	}
	text, err := json.Marshal(map[string]any{"pixels": image})
	if err != nil {
		panic(err)
	}
	return image, string(text)
}

type sent struct {
	Digit         *int
	Probabilities []float32
	Error         string
}

// post sends a body and returns the answer.
func post(ctx context.Context, method, url string, body io.Reader) (status int, header http.Header, got sent, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return 0, nil, got, err
	}
	return do(http.DefaultClient, r)
}

func do(c *http.Client, r *http.Request) (status int, header http.Header, got sent, err error) {
	resp, err := c.Do(r)
	if err != nil {
		return 0, nil, got, err
	}
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
		return 0, nil, got, fmt.Errorf("Content-Type %q", kind)
	}
	return resp.StatusCode, resp.Header, got, json.NewDecoder(resp.Body).Decode(&got)
}

// TestBatches: a picture has the probabilities that it has alone, to the bit, in batches of every size.
func TestBatches(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		w := classifier(d, made(d))
		var all []float32
		var alone [][]float32
		for i := range *batch {
			image, _ := drawn(uint64(i))
			p := probabilities(t, w, image)
			sum := 0.0
			for _, v := range p {
				sum += float64(v)
			}
			if len(p) != digits || math.Abs(sum-1) > 1e-5 {
				t.Fatalf("%v", p)
			}
			all, alone = append(all, image...), append(alone, p)
			if got, want := probabilities(t, w, all), slices.Concat(alone...); !slices.Equal(got, want) {
				t.Fatalf("%d pictures have %v, alone %v", i+1, got, want)
			}
		}
		if slices.Equal(alone[0], alone[1]) {
			t.Error("all pictures are the same")
		}
	})
}

// TestPyTorch: with the weights of the net of scripts/examples/digits.py, by their names, the answers are those of
// scripts/examples/serve.py.
func TestPyTorch(t *testing.T) {
	var want struct{ Answers []sent }
	exampletest.Recorded(t, "serve", &want)
	images, _ := exampletest.Digits(t)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		weights, err := tensor.LoadNPZ(d, "../../testdata/examples/digits.npz")
		if err != nil {
			t.Fatal(err)
		}
		delete(weights, "losses")
		path := filepath.Join(t.TempDir(), "digits.safetensors")
		if err := tensor.SaveSafetensors(path, weights); err != nil {
			t.Fatal(err)
		}
		net, err := load(d, path)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := running(t, patience, classifier(d, net))
		for i, want := range want.Answers {
			image := data.Elements[float32](images.Slice(i, i+1).To(tensor.Float32))
			body, err := json.Marshal(map[string]any{"pixels": image})
			if err != nil {
				t.Fatal(err)
			}
			status, _, got, err := post(t.Context(), http.MethodPost, s.URL+"/predict", bytes.NewReader(body))
			if err != nil || status != http.StatusOK || *got.Digit != *want.Digit {
				t.Fatalf("picture %d: status %d, %v, err %v", i, status, got, err)
			}
			for k, p := range want.Probabilities {
				if !(math.Abs(float64(got.Probabilities[k]-p)) <= 1e-5) {
					t.Errorf("picture %d is %d with %v, PyTorch's %v", i, k, got.Probabilities[k], p)
				}
			}
		}
	})
}

// TestClients: of a hundred clients at once, half send what is no picture or leave, and the others get their own answers.
func TestClients(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		w := classifier(d, made(d))
		want := map[int]sent{}
		for i := range 50 {
			image, _ := drawn(uint64(i))
			p := probabilities(t, w, image)
			digit := slices.Index(p, slices.Max(p))
			want[i] = sent{Digit: &digit, Probabilities: p}
		}
		s, _ := running(t, patience, w)
		var clients sync.WaitGroup
		for i := range 50 {
			clients.Go(func() {
				for range 3 {
					_, body := drawn(uint64(i))
					status, _, got, err := post(t.Context(), "POST", s.URL+"/predict", strings.NewReader(body))
					if err != nil || status != http.StatusOK || *got.Digit != *want[i].Digit || !slices.Equal(got.Probabilities, want[i].Probabilities) {
						t.Errorf("picture %d: status %d, %+v, err %v", i, status, got, err)
					}
				}
			})
			clients.Go(func() {
				for j := range 3 {
					switch (i + j) % 3 {
					case 0:
						c := bad[(i/3+j)%len(bad)]
						refused(t, s.URL, c)
					case 1: // it leaves in the middle of its body
						leaves(t, s.Listener.Addr().String(), `{"pixels": [1, 2,`)
					case 2: // it leaves before the answer comes
						_, body := drawn(1)
						leaves(t, s.Listener.Addr().String(), body)
					}
				}
			})
		}
		clients.Wait()
	})
}

// leaves begins a request and closes the connection.
func leaves(t *testing.T, address, body string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", max(len(body), 100), body)
}

type badRequest struct {
	method, path, body string
	status             int
	says               string
}

var bad = []badRequest{
	{"POST", "/predict", "", 400, "it ends too soon"},
	{"POST", "/predict", "hello", 400, "it is no JSON at byte 1"},
	{"POST", "/predict", `{"pixels": [1, 2`, 400, "it ends too soon"},
	{"POST", "/predict", `[1, 2]`, 400, "array at byte 1 does not"},
	{"POST", "/predict", `{"pixels": "a"}`, 400, "string at byte"},
	{"POST", "/predict", `{"pixels": [1e999]}`, 400, "number 1e999 at byte"},
	{"POST", "/predict", `{"pixel": []}`, 400, "it has another field"},
	{"POST", "/predict", `{}`, 400, "there are 0 pixels, and a picture has 64"},
	{"POST", "/predict", `null`, 400, "there are 0 pixels"},
	{"POST", "/predict", `{"pixels": [1, 2, 3]}`, 400, "there are 3 pixels"},
	{"POST", "/predict", numbers(64, "0", "NaN"), 400, "it is no JSON at byte"},
	{"POST", "/predict", numbers(64, "0", "null"), 400, "pixel 63 is not a number from 0 to 16"},
	{"POST", "/predict", numbers(64, "0", "-0.1"), 400, "pixel 63 is not"},
	{"POST", "/predict", numbers(64, "0", "16.01"), 400, "pixel 63 is not"},
	{"POST", "/predict", numbers(65, "0", "0"), 400, "there are 65 pixels"},
	{"POST", "/predict", numbers(64, "0", "0") + "x", 400, "something follows the object"},
	{"POST", "/predict", numbers(most, "0", "0"), 413, "larger than 16384 bytes"},
	{"GET", "/predict", "", 405, "POST, not GET"},
	{"PUT", "/predict", numbers(64, "0", "0"), 405, "POST, not PUT"},
	{"POST", "/", numbers(64, "0", "0"), 404, "/predict"},
	{"GET", "/predict/x", "", 404, "/predict"},
}

// numbers returns a request of n numbers, the last of them another.
func numbers(n int, one, last string) string {
	return `{"pixels": [` + strings.Repeat(one+", ", n-1) + last + `]}`
}

func refused(t *testing.T, url string, c badRequest) {
	status, header, got, err := post(t.Context(), c.method, url+c.path, strings.NewReader(c.body))
	if err != nil || status != c.status || !strings.Contains(got.Error, c.says) || got.Probabilities != nil {
		t.Errorf("%s %s %.40q: status %d, %+v, err %v", c.method, c.path, c.body, status, got, err)
	}
	if allow := header.Get("Allow"); (status == 405) != (allow == "POST") {
		t.Errorf("%s: Allow is %q", c.method, allow)
	}
}

// TestBadRequests: what is no picture is refused, with the status and the reason.
func TestBadRequests(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	s, _ := running(t, patience, classifier(d, made(d)))
	for _, c := range bad {
		refused(t, s.URL, c)
	}
	_, body := drawn(1)
	for _, good := range []string{body, numbers(64, "0.5", "16") + " \n"} {
		if status, _, got, err := post(t.Context(), "POST", s.URL+"/predict", strings.NewReader(good)); err != nil || status != 200 {
			t.Errorf("status %d, %+v, err %v", status, got, err)
		}
	}
}

// blocking returns a worker that computes one picture after the other, when proceed lets it.
func blocking(t *testing.T, begun chan<- bool, proceed <-chan bool) serve.Worker {
	d := devtest.Open(t, "cpu", tensor.Options{})
	w := classifier(d, made(d))
	return serve.Worker{Device: d, Run: func(in ...*tensor.Tensor) ([]*tensor.Tensor, error) {
		begun <- true
		<-proceed
		return w.Run(in...)
	}}
}

// unprepared returns a predictor of a worker that computes no example.
func unprepared(t *testing.T, w serve.Worker, cfg serve.Config) *serve.Predictor {
	t.Helper()
	p, err := serve.New([]serve.Worker{w}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFull: with as many requests as may wait, further ones are refused for now, and those that wait are answered.
func TestFull(t *testing.T) {
	begun, proceed := make(chan bool, 10), make(chan bool)
	s := served(t, patience, unprepared(t, blocking(t, begun, proceed), serve.Config{MaxBatch: 1, Queue: 2}))
	var clients sync.WaitGroup
	for i := range 3 {
		clients.Go(func() {
			_, body := drawn(uint64(i))
			if status, _, got, err := post(t.Context(), "POST", s.URL+"/predict", strings.NewReader(body)); err != nil || status != 200 {
				t.Errorf("status %d, %+v, err %v", status, got, err)
			}
		})
		if i == 0 { // before it is computed, it waits, and the queue has two places
			<-begun
		}
	}
	for !strings.Contains(page(t, s.URL+"/metrics"), "clgrad_serve_queue_length 2\n") {
		time.Sleep(time.Millisecond)
	}
	_, body := drawn(1)
	status, header, got, err := post(t.Context(), "POST", s.URL+"/predict", strings.NewReader(body))
	if err != nil || status != 503 || header.Get("Retry-After") != "1" || !strings.Contains(got.Error, "try again") {
		t.Errorf("status %d, %+v, err %v", status, got, err)
	}
	close(proceed)
	clients.Wait()
	if text := page(t, s.URL+"/metrics"); !strings.Contains(text, `clgrad_serve_requests_total{outcome="ok"} 3`) ||
		!strings.Contains(text, `clgrad_serve_requests_total{outcome="full"} 1`) {
		t.Errorf("metrics:\n%s", text)
	}
}

// page returns what a server answers to GET.
func page(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("status %d, err %v", answer.StatusCode, err)
	}
	return string(text)
}

// TestSlow: a request that gets no answer in time gets an error.
func TestSlow(t *testing.T) {
	begun, proceed := make(chan bool, 10), make(chan bool)
	s := served(t, time.Millisecond, unprepared(t, blocking(t, begun, proceed), serve.Config{}))
	defer close(proceed)
	_, body := drawn(1)
	status, _, got, err := post(t.Context(), "POST", s.URL+"/predict", strings.NewReader(body))
	if err != nil || status != 504 || !strings.Contains(got.Error, "no answer in 1ms") {
		t.Errorf("status %d, %+v, err %v", status, got, err)
	}
}

// TestDeviceFails: a request that could not be computed gets an error, and the predictor ends with the reason.
func TestDeviceFails(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	s, p := running(t, patience, classifier(d, made(d)))
	d.Close()
	_, body := drawn(1)
	status, _, got, err := post(t.Context(), "POST", s.URL+"/predict", strings.NewReader(body))
	if err != nil || status != 500 || got.Error != "the device failed" {
		t.Errorf("status %d, %+v, err %v", status, got, err)
	}
	<-p.Done()
	if p.Err() == nil {
		t.Error("the predictor ended without an error")
	}
}

// TestProgram: the program serves what digits saved, and asked to end it answers the requests that are there first.
func TestProgram(t *testing.T) {
	d := devtest.CPU(t)
	path := filepath.Join(t.TempDir(), "digits.safetensors")
	if err := tensor.SaveSafetensors(path, nn.StateDict(made(d))); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := exec.Command("serve", "--model", path, "--device", "cpu,cpu", "--addr", "localhost:0")
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
		_, body := drawn(1)
		begun, rest := io.Pipe()
		go func() {
			_, err := io.WriteString(rest, body[:1])
			if err == nil {
				err = cmd.Process.Signal(s)
			}
			if err == nil {
				_, err = io.WriteString(rest, body[1:])
			}
			rest.CloseWithError(err)
		}()
		r, err := http.NewRequestWithContext(t.Context(), "POST", url+"/predict", begun)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Expect", "100-continue")
		status, _, got, err := do(client, r)
		if err != nil || status != 200 || len(got.Probabilities) != digits {
			t.Errorf("%v: status %d, %+v, err %v", s, status, got, err)
		}
		said, _ := io.ReadAll(out)
		if err := cmd.Wait(); err != nil || len(bytes.TrimSpace(said)) > 0 {
			t.Errorf("%v: ended with %v, said %q", s, err, said)
		}
	}
}
