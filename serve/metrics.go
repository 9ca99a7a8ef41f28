package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// outcomes are how a call of Predict may end.
var outcomes = []string{"ok", "error", "input", "full", "cancelled", "closed"}

func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrInput):
		return "input"
	case errors.Is(err, ErrFull):
		return "full"
	case errors.Is(err, ErrClosed):
		return "closed"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	}
	return "error"
}

// metrics count what a predictor does.
type metrics struct {
	mu        sync.Mutex
	requests  map[string]uint64 // by outcome
	latency   histogram         // of requests that are ok, in seconds
	batchRows histogram
	batchTime histogram // in seconds
}

func (m *metrics) init(maxBatch int) {
	m.requests = map[string]uint64{}
	seconds := []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	m.latency, m.batchTime = newHistogram(seconds), newHistogram(seconds)
	var rows []float64
	for n := 1; n < maxBatch; n *= 2 {
		rows = append(rows, float64(n))
	}
	m.batchRows = newHistogram(append(rows, float64(maxBatch)))
}

func (m *metrics) request(d time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[outcomeOf(err)]++
	if err == nil {
		m.latency.observe(d.Seconds())
	}
}

func (m *metrics) batch(rows int, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.batchRows.observe(float64(rows))
	m.batchTime.observe(d.Seconds())
}

// histogram counts numbers by the smallest bound that is not below them.
type histogram struct {
	bounds []float64
	counts []uint64 // one more than bounds: of numbers above all
	sum    float64
}

func newHistogram(bounds []float64) histogram {
	return histogram{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

func (h *histogram) observe(v float64) {
	i, _ := slices.BinarySearch(h.bounds, v)
	h.counts[i]++
	h.sum += v
}

// WriteMetrics writes metrics of predictors in Prometheus's text format. Those of several predictors
// need a Config.Name each.
//
//	clgrad_serve_requests_total{outcome="…"}  calls of Predict: ok, error (the model's), input (bad), full,
//	                                          cancelled, closed
//	clgrad_serve_request_seconds              a histogram: how long calls took that are ok
//	clgrad_serve_batch_rows                   a histogram: rows of batches, without those that fill them up
//	clgrad_serve_batch_seconds                a histogram: how long batches took
//	clgrad_serve_queue_length                 requests that wait
//	clgrad_serve_queue_limit                  requests that may wait
//	clgrad_serve_workers                      workers whose devices have not failed
func WriteMetrics(w io.Writer, predictors ...*Predictor) error {
	b := bufio.NewWriter(w)
	series := make([]snapshot, len(predictors))
	for i, p := range predictors {
		series[i] = p.snapshot()
	}
	family := func(name, kind, help string, write func(name string, s *snapshot)) {
		fmt.Fprintf(b, "# HELP %[1]s %[3]s\n# TYPE %[1]s %[2]s\n", name, kind, help)
		for i := range series {
			write(name, &series[i])
		}
	}
	gauge := func(name, help string, value func(s *snapshot) int) {
		family(name, "gauge", help, func(name string, s *snapshot) { fmt.Fprintf(b, "%s%s %d\n", name, s.labels(), value(s)) })
	}
	distribution := func(name, help string, of func(s *snapshot) histogram) {
		family(name, "histogram", help, func(name string, s *snapshot) { of(s).write(b, name, s) })
	}
	family("clgrad_serve_requests_total", "counter", "Requests by their outcome.", func(name string, s *snapshot) {
		for _, o := range outcomes {
			fmt.Fprintf(b, "%s%s %d\n", name, s.labels("outcome", o), s.requests[o])
		}
	})
	distribution("clgrad_serve_request_seconds", "Time to answer a request.", func(s *snapshot) histogram { return s.latency })
	distribution("clgrad_serve_batch_rows", "Rows of a batch.", func(s *snapshot) histogram { return s.batchRows })
	distribution("clgrad_serve_batch_seconds", "Time to compute a batch.", func(s *snapshot) histogram { return s.batchTime })
	gauge("clgrad_serve_queue_length", "Requests that wait.", func(s *snapshot) int { return s.queue })
	gauge("clgrad_serve_queue_limit", "Requests that may wait.", func(s *snapshot) int { return s.limit })
	gauge("clgrad_serve_workers", "Workers that compute.", func(s *snapshot) int { return s.workers })
	return b.Flush()
}

// snapshot is the metrics of a predictor at one time.
type snapshot struct {
	name                          string
	requests                      map[string]uint64
	latency, batchRows, batchTime histogram
	queue, limit, workers         int
}

func (p *Predictor) snapshot() snapshot {
	s := snapshot{name: p.cfg.Name, limit: p.cfg.Queue, requests: map[string]uint64{}}
	p.mu.Lock()
	s.queue, s.workers = len(p.queue), p.workers
	p.mu.Unlock()
	m := &p.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	for outcome, n := range m.requests {
		s.requests[outcome] = n
	}
	s.latency, s.batchRows, s.batchTime = m.latency.clone(), m.batchRows.clone(), m.batchTime.clone()
	return s
}

func (h histogram) clone() histogram {
	h.counts = slices.Clone(h.counts)
	return h
}

func (h histogram) write(w io.Writer, name string, s *snapshot) {
	total := uint64(0)
	for i, n := range h.counts {
		total += n
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
		}
		fmt.Fprintf(w, "%s_bucket%s %d\n", name, s.labels("le", bound), total)
	}
	fmt.Fprintf(w, "%s_sum%s %v\n%s_count%s %d\n", name, s.labels(), h.sum, name, s.labels(), total)
}

// labels returns the labels of a series, in braces: the predictor's name, and pairs of a name and a
// value.
func (s *snapshot) labels(pairs ...string) string {
	if s.name != "" {
		pairs = append([]string{"model", s.name}, pairs...)
	}
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		value := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(pairs[i+1])
		list = append(list, fmt.Sprintf(`%s="%s"`, pairs[i], value))
	}
	if list == nil {
		return ""
	}
	return "{" + strings.Join(list, ",") + "}"
}
