package onnx

import (
	"fmt"
	"time"

	"github.com/clgrad/clgrad/replay"
)

// NodeTrace is what a node of a model did in a run: see [Session.SetTrace].
type NodeTrace struct {
	Name            string        // the node's, or that of its first output
	Op              string        // the operator, with its domain where that is not ai.onnx
	Inputs, Outputs []*Value      // nil for what is left out; they are the run's, until the function returns
	OutputNames     []string      // "" for an output that nobody asks for
	FLOPs           float64       // arithmetic operations by the shapes: see the comment of [Session.SetTrace]
	Took            time.Duration // how long the node took
}

// SetTrace calls f after each node of later runs, which are eager and wait for each node; nil ends that. Nodes are those
// that are left after the passes, and those of graphs and functions within the model: of If, Loop, Scan and of a call of
// a function f gets what is in them.
//
// FLOPs counts a multiplication and an addition as two in convolutions, products, attention and recurrent operators, each
// element of a window or of what is reduced as one, 0 for operators that move elements, and one for each element of the
// outputs of all others.
func (s *Session) SetTrace(f func(NodeTrace)) { s.trace = f }

// Reports returns what there is to know of the recordings that the session has, the one used last first: their launches,
// and the memory that they planned.
func (s *Session) Reports() []replay.Report {
	var list []replay.Report
	for _, r := range s.replays.made.All() {
		list = append(list, r.rec.Report())
	}
	return list
}

// traced runs a node, and tells who traces the session.
func (r *runner) traced(c *Call) ([]*Value, error) {
	if err := r.s.dev.Sync(); err != nil {
		return nil, err
	}
	start := time.Now()
	out := c.node.op.Run(c)
	if err := r.s.dev.Sync(); err != nil {
		return nil, err
	}
	took := time.Since(start)
	p := c.node.proto
	t := NodeTrace{Name: p.Name, Op: p.Op, Inputs: c.in, Outputs: out, OutputNames: p.Outputs, FLOPs: flops(&c.nodeCall, sizesOfValues(c.in), sizesOfValues(out)), Took: took}
	if domain := domainOf(p.Domain); domain != "" {
		t.Op = domain + "." + p.Op
	}
	if t.Name == "" && len(p.Outputs) > 0 {
		t.Name = p.Outputs[0]
	}
	r.s.trace(t)
	return out, nil
}

// String returns a line: "Conv conv1: float32 [1 8 4 4]".
func (t NodeTrace) String() string {
	s := fmt.Sprintf("%s %s:", t.Op, t.Name)
	for _, v := range t.Outputs {
		if v != nil {
			s += fmt.Sprintf(" %v", v)
		}
	}
	return s
}
