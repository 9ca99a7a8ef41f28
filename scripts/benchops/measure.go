//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"
)

// result is the times of a row on a device and of PyTorch beside it, in seconds for one call.
type result struct {
	Op        string  `json:"op"`
	Row       string  `json:"row"`
	Elements  int     `json:"elements"`
	Direction string  `json:"direction"` // "forward", or "both": forward and backward
	Device    string  `json:"device"`
	Cores     int     `json:"cores"`
	Ours      timing  `json:"clgrad"`
	Theirs    timing  `json:"pytorch"`
	Version   string  `json:"version"`         // of PyTorch
	Ratio     float64 `json:"ratio"`           // clgrad's time by PyTorch's; 0 if one of them has none
	Error     string  `json:"error,omitempty"` // why a side has no time
}

// timing is medians of one side: of time, and of processor time.
type timing struct {
	Wall float64 `json:"wall"`
	CPU  float64 `json:"cpu"`
}

// seconds returns the time that counts on some cores.
func (t timing) seconds(cores int) float64 {
	if cores == 1 {
		return t.CPU
	}
	return t.Wall
}

// measure times a row of about n elements on all sides, of which the first is PyTorch.
func (o options) measure(sides []*process, cores int, r row, n int) (results []result, err error) {
	q := request{Row: r.name(), Torch: r.torch, Operands: r.operands(n)}
	failed := make([]string, len(sides))
	shapes := make([][]int, len(sides))
	for i, p := range sides {
		a, err := p.ask(q)
		if err != nil {
			return nil, err
		}
		failed[i], shapes[i] = a.Error, a.Shape
		// What MaskedSelect returns is as long as chance has it.
		if failed[0] == "" && a.Error == "" && r.op != "MaskedSelect" && !slices.Equal(a.Shape, shapes[0]) {
			return nil, fmt.Errorf("%s returns %v, PyTorch %v", p.name, a.Shape, shapes[0])
		}
	}
	directions := []string{"forward"}
	if slices.ContainsFunc(q.Operands, func(o operand) bool { return o.Grad }) {
		directions = append(directions, "both")
	}
	for _, direction := range directions {
		failed := slices.Clone(failed)
		times, err := o.turns(sides, direction == "both", failed)
		if err != nil {
			return nil, err
		}
		for i, p := range sides[1:] {
			result := result{Op: r.op, Row: r.name(), Elements: n, Direction: direction, Device: p.name, Cores: cores, Version: sides[0].version,
				Ours: times[i+1], Theirs: times[0], Error: failed[i+1]}
			if failed[0] != "" {
				result.Error = "PyTorch: " + failed[0]
			}
			if result.Error == "" {
				result.Ratio = result.Ours.seconds(cores) / result.Theirs.seconds(cores)
			}
			results = append(results, result)
		}
	}
	return results, nil
}

// turns times batches of the sides in turns, and notes in failed why a side has no times.
func (o options) turns(sides []*process, backward bool, failed []string) ([]timing, error) {
	calls := make([]int, len(sides))
	batch := func(i, calls int) (a answer, err error) {
		if failed[i] != "" {
			return a, nil
		}
		a, err = sides[i].ask(request{Calls: calls, Backward: backward})
		failed[i] = a.Error
		return a, err
	}
	rounds := o.rounds
	for i := range sides {
		if _, err := batch(i, 1); err != nil { // builds kernels
			return nil, err
		}
		for calls[i] = 1; calls[i] < 1<<20; {
			a, err := batch(i, calls[i])
			if err != nil {
				return nil, err
			}
			t := time.Duration(a.Wall * 1e9)
			if failed[i] != "" || t >= o.batch {
				if t > 500*time.Millisecond {
					rounds = min(rounds, 3)
				}
				break
			}
			calls[i] = min(1<<20, max(2*calls[i], min(16*calls[i], int(1.2*float64(calls[i])*float64(o.batch)/float64(t+1)))))
		}
	}
	wall, cpu := make([][]float64, len(sides)), make([][]float64, len(sides))
	for range rounds {
		for i := range sides {
			a, err := batch(i, calls[i])
			if err != nil {
				return nil, err
			}
			wall[i] = append(wall[i], a.Wall/float64(calls[i]))
			cpu[i] = append(cpu[i], a.CPU/float64(calls[i]))
		}
	}
	times := make([]timing, len(sides))
	for i := range sides {
		if failed[i] == "" {
			times[i] = timing{median(wall[i]), median(cpu[i])}
		}
	}
	return times, nil
}

// median returns the middle of an odd number of values, and the lower of the two middles of others.
func median(v []float64) float64 {
	return slices.Sorted(slices.Values(v))[(len(v)-1)/2]
}
