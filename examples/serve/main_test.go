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
	"testing/synctest"
	"time"

	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
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

// made returns a batcher of a net with some weights, which nobody runs yet.
func made(d tensor.Device) *batcher {
	model := newNet(d, tensor.NewRNG(7))
	nn.Eval(model)
	return newBatcher(d, model)
}

// running returns a server whose batcher runs until the end of the test.
func running(t *testing.T, b *batcher) *httptest.Server {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- b.run() }()
	s := httptest.NewServer(b.handler())
	t.Cleanup(func() {
		s.Close()
		close(b.quit)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// picture returns some picture, and the request for it.
func picture(seed uint64) (image []float32, body string) {
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
	Probabilities []float64
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
		b := made(d)
		var all []float32
		var alone [][]float64
		for i := range *batch {
			image, _ := picture(uint64(i))
			p, err := b.compute(image)
			sum := 0.0
			for _, v := range p {
				sum += v
			}
			if err != nil || len(p) != digits || math.Abs(sum-1) > 1e-5 {
				t.Fatalf("%v, err %v", p, err)
			}
			all, alone = append(all, image...), append(alone, p)
			together, err := b.compute(all)
			if err != nil {
				t.Fatal(err)
			}
			if want := slices.Concat(alone...); !slices.Equal(together, want) {
				t.Fatalf("%d pictures have %v, alone %v", i+1, together, want)
			}
		}
		if slices.Equal(alone[0], alone[1]) {
			t.Error("all pictures are the same")
		}
	})
}

// TestDigitsNet: the net is that of examples/digits, whose weights in PyTorch have these names and shapes.
func TestDigitsNet(t *testing.T) {
	d := devtest.CPU(t)
	weights, err := tensor.LoadNPZ(d, "../../testdata/examples/digits.npz")
	if err != nil {
		t.Fatal(err)
	}
	delete(weights, "losses")
	path := filepath.Join(t.TempDir(), "digits.safetensors")
	if err := tensor.SaveSafetensors(path, weights); err != nil {
		t.Fatal(err)
	}
	if _, err := load(d, path); err != nil {
		t.Error(err)
	}
}

// TestClients: of a hundred clients at once, half send what is no picture or leave, and the others get their own answers.
func TestClients(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		b := made(d)
		want := map[int]sent{}
		for i := range 50 {
			image, _ := picture(uint64(i))
			p, err := b.compute(image)
			if err != nil {
				t.Fatal(err)
			}
			digit := slices.Index(p, slices.Max(p))
			want[i] = sent{Digit: &digit, Probabilities: p}
		}
		s := running(t, b)
		var clients sync.WaitGroup
		for i := range 50 {
			clients.Go(func() {
				for range 3 {
					_, body := picture(uint64(i))
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
						_, body := picture(1)
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
	s := running(t, made(devtest.CPU(t)))
	for _, c := range bad {
		refused(t, s.URL, c)
	}
	_, body := picture(1)
	for _, good := range []string{body, numbers(64, "0.5", "16") + " \n"} {
		if status, _, got, err := post(t.Context(), "POST", s.URL+"/predict", strings.NewReader(good)); err != nil || status != 200 {
			t.Errorf("status %d, %+v, err %v", status, got, err)
		}
	}
}

// TestFull: with as many requests as may wait, further ones are refused for now, and those that wait are answered.
func TestFull(t *testing.T) {
	exampletest.Set(t, queue, 2)
	b := made(devtest.CPU(t))
	s := httptest.NewServer(b.handler())
	defer s.Close()
	var waiting sync.WaitGroup
	for i := range *queue {
		waiting.Go(func() {
			_, body := picture(uint64(i))
			if status, _, got, err := post(t.Context(), "POST", s.URL+"/predict", strings.NewReader(body)); err != nil || status != 200 {
				t.Errorf("status %d, %+v, err %v", status, got, err)
			}
		})
	}
	for len(b.requests) < *queue {
		time.Sleep(time.Millisecond)
	}
	_, body := picture(1)
	status, header, got, err := post(t.Context(), "POST", s.URL+"/predict", strings.NewReader(body))
	if err != nil || status != 503 || header.Get("Retry-After") != "1" || !strings.Contains(got.Error, "try again") {
		t.Errorf("status %d, %+v, err %v", status, got, err)
	}
	done := make(chan error, 1)
	go func() { done <- b.run() }()
	waiting.Wait()
	close(b.quit)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestSlow: a request that gets no answer in time gets an error, and is not computed later.
func TestSlow(t *testing.T) {
	b := made(devtest.CPU(t))
	b.patience = time.Millisecond
	s := httptest.NewServer(b.handler())
	defer s.Close()
	_, body := picture(1)
	status, _, got, err := post(t.Context(), "POST", s.URL+"/predict", strings.NewReader(body))
	if err != nil || status != 504 || !strings.Contains(got.Error, "no answer in 1ms") {
		t.Errorf("status %d, %+v, err %v", status, got, err)
	}
	left := <-b.requests
	b.requests <- left
	launches := b.device.Stats().Launches
	go func() {
		for len(b.requests) > 0 {
			time.Sleep(time.Millisecond)
		}
		close(b.quit)
	}()
	if err := b.run(); err != nil || len(left.answer) != 0 || b.device.Stats().Launches != launches {
		t.Errorf("it was computed for nobody, err %v", err)
	}
}

// TestGather: a batch is full, or has what comes while its first request waits.
func TestGather(t *testing.T) {
	exampletest.Set(t, batch, 3)
	synctest.Test(t, func(t *testing.T) {
		b := made(devtest.CPU(t))
		for range 4 {
			b.requests <- request{}
		}
		if n := len(b.gather(<-b.requests)); n != 3 {
			t.Errorf("a batch of %d", n)
		}
		go func() {
			time.Sleep(*wait - 1)
			b.requests <- request{}
			time.Sleep(2 * time.Nanosecond)
			b.requests <- request{}
		}()
		if n := len(b.gather(<-b.requests)); n != 2 {
			t.Errorf("a batch of %d: one came before the end of its wait, and one after", n)
		}
		<-b.requests
	})
}

// TestDeviceFails: the requests of a batch that could not be computed get the error, and the batcher ends with the reason.
func TestDeviceFails(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	b := made(d)
	d.Close()
	s := httptest.NewServer(b.handler())
	defer s.Close()
	done := make(chan error, 1)
	go func() { done <- b.run() }()
	_, body := picture(1)
	status, _, got, err := post(t.Context(), "POST", s.URL+"/predict", strings.NewReader(body))
	if err != nil || status != 500 || got.Error != "the device failed" {
		t.Errorf("status %d, %+v, err %v", status, got, err)
	}
	if err := <-done; err == nil {
		t.Error("the batcher ended without an error")
	}
}

// TestProgram: the program serves what digits saved, and asked to end it answers the requests that are there first.
func TestProgram(t *testing.T) {
	d := devtest.CPU(t)
	path := filepath.Join(t.TempDir(), "digits.safetensors")
	if err := tensor.SaveSafetensors(path, nn.StateDict(made(d).net)); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := exec.Command("serve", "--model", path, "--device", "cpu", "--addr", "localhost:0")
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
		_, body := picture(1)
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
