package serve

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var sample = regexp.MustCompile(`^([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)$`)

// parsed returns the samples of a page by name and labels, after a look at its form: each family has
// one HELP and one TYPE before its samples, and buckets grow.
func parsed(t *testing.T, page string) map[string]float64 {
	t.Helper()
	found, types := map[string]float64{}, map[string]string{}
	family, last := "", 0.0
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if words := strings.Fields(line); words[0] == "#" {
			if family = words[2]; words[1] == "TYPE" {
				if types[family] != "" {
					t.Errorf("two types of %s", family)
				}
				types[family] = words[3]
			}
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q is no sample", line)
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(m[1], family) || types[family] == "" {
			t.Errorf("%s is in the family %s", m[1], family)
		}
		if strings.HasSuffix(m[1], "_bucket") {
			if v < last {
				t.Errorf("%s: a bucket shrinks", line)
			}
			if last = v; strings.Contains(m[2], "+Inf") {
				last = 0
			}
		}
		key := m[1] + "{" + m[2] + "}"
		if _, twice := found[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		found[key] = v
	}
	return found
}

// TestMetrics: the page counts requests, batches, rows and times, of predictors with names and of one
// without.
func TestMetrics(t *testing.T) {
	m := &doubler{t: t, fails: func(x []float32) error {
		if x[0] == 13 {
			return errors.New("no")
		}
		return nil
	}}
	p := started(t, Config{MaxBatch: 6, Queue: 7}, m.worker())
	other := started(t, Config{Name: "a \"b\"\\\n"}, (&doubler{t: t}).worker())
	for range 3 {
		doubles(t, p, 1)
	}
	doubles(t, other, 1)
	for _, x := range []float32{13, 13} {
		if _, err := p.Predict(t.Context(), row(x)); err == nil {
			t.Error("no error")
		}
	}
	if _, err := p.Predict(t.Context()); err == nil {
		t.Error("no error")
	}
	p.metrics.batch(5, 3*time.Second)
	p.metrics.batch(6, time.Hour)
	var page strings.Builder
	if err := WriteMetrics(&page, p, other); err != nil {
		t.Fatal(err)
	}
	got := parsed(t, page.String())
	named := `model="a \"b\"\\\n"`
	for key, want := range map[string]float64{
		`clgrad_serve_requests_total{outcome="ok"}`:               3,
		`clgrad_serve_requests_total{outcome="error"}`:            2,
		`clgrad_serve_requests_total{outcome="input"}`:            1,
		`clgrad_serve_requests_total{outcome="full"}`:             0,
		`clgrad_serve_requests_total{outcome="cancelled"}`:        0,
		`clgrad_serve_requests_total{outcome="closed"}`:           0,
		`clgrad_serve_requests_total{` + named + `,outcome="ok"}`: 1,
		`clgrad_serve_request_seconds_count{}`:                    3,
		`clgrad_serve_request_seconds_bucket{le="+Inf"}`:          3,
		`clgrad_serve_request_seconds_count{` + named + `}`:       1,
		`clgrad_serve_batch_rows_bucket{le="1"}`:                  5,
		`clgrad_serve_batch_rows_bucket{le="4"}`:                  5,
		`clgrad_serve_batch_rows_bucket{le="6"}`:                  7,
		`clgrad_serve_batch_rows_bucket{le="+Inf"}`:               7,
		`clgrad_serve_batch_rows_sum{}`:                           16,
		`clgrad_serve_batch_rows_count{}`:                         7,
		`clgrad_serve_batch_seconds_bucket{le="5"}`:               6,
		`clgrad_serve_batch_seconds_bucket{le="10"}`:              6,
		`clgrad_serve_batch_seconds_bucket{le="+Inf"}`:            7,
		`clgrad_serve_queue_length{}`:                             0,
		`clgrad_serve_queue_limit{}`:                              7,
		`clgrad_serve_queue_limit{` + named + `}`:                 256,
		`clgrad_serve_workers{}`:                                  1,
	} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s is %v, want %v", key, v, want)
		}
	}
	if sum := got[`clgrad_serve_batch_seconds_sum{}`]; !(sum >= 3603) || math.IsInf(sum, 0) {
		t.Errorf("batches took %v", sum)
	}
	if err := WriteMetrics(broken{}, p); err == nil {
		t.Error("an error of the writer is lost")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, fmt.Errorf("broken") }
