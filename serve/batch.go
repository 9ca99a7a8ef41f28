package serve

import (
	"fmt"
	"time"

	"github.com/clgrad/clgrad/data"
)

// compute answers the requests of a batch. If the batch fails on a device that has not, they are
// computed one by one.
func (p *Predictor) compute(w Worker, batch []*request) {
	rows := 0
	for _, r := range batch {
		rows += r.rows
	}
	start := time.Now()
	outputs, err := w.compute(p.join(batch, p.padded(rows)))
	p.metrics.batch(rows, time.Since(start))
	var parts [][]data.Array
	if err == nil {
		parts, err = p.split(batch, outputs, p.padded(rows))
	}
	if err != nil && len(batch) > 1 && w.Device.Err() == nil {
		for _, r := range batch {
			p.compute(w, []*request{r})
		}
		return
	}
	for i, r := range batch {
		a := answer{err: err}
		if err == nil {
			a.outputs = parts[i]
		}
		r.answer <- a
	}
}

// join returns the inputs of a batch of so many rows: those of the requests, and then the last of
// them again and again.
func (p *Predictor) join(batch []*request, rows int) []data.Array {
	if p.cfg.MaxBatch == 1 {
		return batch[0].inputs
	}
	inputs := make([]data.Array, len(batch[0].inputs))
	for i := range inputs {
		parts, n := make([]data.Array, 0, rows), 0
		for _, r := range batch {
			parts, n = append(parts, r.inputs[i]), n+r.rows
		}
		last := parts[len(parts)-1]
		for ; n < rows; n++ {
			parts = append(parts, last.Slice(last.Len()-1, last.Len()))
		}
		if inputs[i] = last; len(parts) > 1 {
			inputs[i] = data.Concat(parts...)
		}
	}
	return inputs
}

// split returns the outputs of each request of a batch of so many rows.
func (p *Predictor) split(batch []*request, outputs []data.Array, rows int) ([][]data.Array, error) {
	if p.cfg.MaxBatch == 1 {
		return [][]data.Array{outputs}, nil
	}
	for i, a := range outputs {
		if a.Len() != rows {
			return nil, fmt.Errorf("serve: output %d of the model has shape %v for a batch of %d rows: its first axis should count them, or Config.MaxBatch be 1",
				i, a.Shape(), rows)
		}
	}
	parts, from := make([][]data.Array, len(batch)), 0
	for i, r := range batch {
		for _, a := range outputs {
			parts[i] = append(parts[i], a.Slice(from, from+r.rows))
		}
		from += r.rows
	}
	return parts, nil
}
