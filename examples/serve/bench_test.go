package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// BenchmarkClients: 50 clients send pictures to the program as fast as it answers, over connections
// that stay open, on this machine.
//
//	go test ./examples/serve -run '^$' -bench Clients -benchtime 30000x
func BenchmarkClients(b *testing.B) {
	const clients = 50
	model := newNet(devtest.CPU(b), tensor.NewRNG(7))
	path := filepath.Join(b.TempDir(), "digits.safetensors")
	if err := tensor.SaveSafetensors(path, nn.StateDict(model)); err != nil {
		b.Fatal(err)
	}
	server := exec.Command("serve", "--model", path, "--device", "cpu", "--addr", "localhost:0")
	out, err := server.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
		used := server.ProcessState.UserTime() + server.ProcessState.SystemTime()
		b.ReportMetric(float64(used.Microseconds())/float64(b.N), "server-µs/op")
	}()
	var url string
	if _, err := fmt.Fscanf(out, "listening on %s\n", &url); err != nil {
		b.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	post := func(body string) error {
		answer, err := client.Post(url+"/predict", "application/json", strings.NewReader(body))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d, err %v", answer.StatusCode, err)
		}
		return nil
	}
	bodies := make([]string, clients)
	for i := range bodies {
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		numbers := make([]string, pixels)
		for k := range numbers {
			numbers[k] = fmt.Sprint(rng.IntN(17))
		}
		bodies[i] = `{"pixels": [` + strings.Join(numbers, ", ") + `]}`
		if err := post(bodies[i]); err != nil { // the connection is there
			b.Fatal(err)
		}
	}
	times := make([][]time.Duration, clients)
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	start := time.Now()
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() {
			for left.Add(-1) >= 0 {
				begun := time.Now()
				if err := post(bodies[i]); err != nil {
					b.Error(err)
					return
				}
				times[i] = append(times[i], time.Since(begun))
			}
		})
	}
	running.Wait()
	took := time.Since(start)
	all := slices.Sorted(slices.Values(slices.Concat(times...)))
	if len(all) == 0 {
		return
	}
	b.ReportMetric(float64(len(all))/took.Seconds(), "requests/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1e3, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1e3, "p99-ms")
}
