package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/dot"
	"github.com/clgrad/clgrad/kernels"
)

// Launch is one launch of a run.
type Launch struct {
	Kernel string   // that is launched
	Step   []int    // the launches of the step that it does, counted from 0: several if they were fused
	Does   []string // their kernels
	// Operations are those on nodes that the launches of the step are part of, with the layer whose parameters they read:
	// "blocks.3.up: Linear", "blocks.3.up: gradient of Linear", "Step".
	Operations []string
	Computes   string // what it computes, as in [Recording.Explain]
	Bytes      int64  // that it reads and writes
}

// String returns "blocks.3.up: Linear → k_gemm", or the kernel alone if the launch is part of no operation.
func (l Launch) String() string {
	if len(l.Operations) == 0 {
		return l.Kernel
	}
	return strings.Join(l.Operations, " + ") + " → " + l.Kernel
}

// wrapped returns what a launch computes in lines of about 80 characters.
func (l *Launch) wrapped() (lines []string) {
	line := ""
	for _, word := range strings.Split(l.Computes, " ") {
		if line != "" && len(line)+len(word) > 80 {
			lines, line = append(lines, line), "   "
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// edge says that launch to reads bytes that launch from wrote.
type edge struct {
	from, to int
	bytes    int64
}

// Launches lists the launches of a run, in their order.
func (r *Recording) Launches() []Launch {
	list := slices.Clone(r.listed)
	p := newPrinter(r.after)
	for i := range list {
		list[i].Operations = r.sourcesOf(list[i].Step)
		list[i].Computes = p.launch(i)
	}
	return list
}

// seen notes what there is to see of launches.
func (r *Recording) seen(nodes []*node) {
	writers := map[kernels.Buffer][]int{}
	for i, n := range nodes {
		l := Launch{Kernel: n.kernel.Name, Step: n.from, Does: n.names}
		for _, list := range [][]region{n.reads, n.writes} {
			for _, g := range list {
				l.Bytes += g.bytes()
			}
		}
		r.listed = append(r.listed, l)
		for _, g := range n.reads {
			list := writers[g.buf]
			for k := len(list) - 1; k >= 0; k-- {
				from := nodes[list[k]].writes
				if at := slices.IndexFunc(from, func(w region) bool { return w.overlaps(&g) }); at >= 0 {
					r.flows = append(r.flows, edge{list[k], i, min(g.bytes(), from[at].bytes())})
				}
				if nodes[list[k]].fillsWhole(&g) { // nothing is left of earlier ones
					break
				}
			}
		}
		for _, g := range n.writes {
			if list := writers[g.buf]; len(list) == 0 || list[len(list)-1] != i {
				writers[g.buf] = append(list, i)
			}
		}
	}
}

// bytes is the memory of a region's elements, as often as they are named.
func (a *region) bytes() int64 {
	n := a.span.hi - a.span.lo
	if a.dims != nil {
		n = 1
		for d, of := range a.dims {
			if a.view.strides[d] != 0 {
				n *= of
			}
		}
	}
	return int64(n) * int64(a.buf.DType().Size())
}

// LaunchTime is a Launch and how long it took.
type LaunchTime struct {
	Launch
	Took time.Duration // how long it took
}

// Profile does a run, as [Recording.Run] does, and waits for each launch before the next. It
// returns how long each took: on the device if that was opened with tensor.Options.Profile, else on
// the host, with starting it and waiting for it. The errors are those of Run.
func (r *Recording) Profile() ([]LaunchTime, error) {
	if r.freed {
		return nil, fault("Profile", ErrReleased, "")
	}
	if err := r.ready(); err != nil {
		return nil, err
	}
	programs := make([]capture.Program, len(r.launches))
	defer func() {
		for _, p := range programs {
			if p != nil {
				p.Free()
			}
		}
	}()
	var times []LaunchTime
	listed := r.Launches()
	var failed error
	err := func() error {
		if err := r.dev.Claim(); err != nil {
			return err
		}
		defer r.dev.Leave()
		for i := range programs {
			var err error
			if programs[i], err = r.dev.Prepare(r.launches[i:i+1], func(string, time.Duration) {}); err != nil {
				return err
			}
		}
		return r.run(func() {
			failed = r.d.Sync()
			for i, p := range programs {
				before, _ := r.onDevice()
				start := time.Now()
				p.Run()
				err := r.d.Sync()
				took := time.Since(start)
				after, measured := r.onDevice()
				if measured {
					took = after - before
				}
				if failed == nil {
					failed = err
				}
				times = append(times, LaunchTime{listed[i], took})
			}
		})
	}()
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	return times, nil
}

// onDevice returns the time that all launches took so far, if the device measures it.
func (r *Recording) onDevice() (total time.Duration, measured bool) {
	times, err := r.d.Profile()
	for _, k := range times {
		total += k.Total
	}
	return total, err == nil && len(times) > 0
}

// WriteDOT writes the launches of a run in Graphviz's language: a box for each, with what it
// computes, the operations and layers that it is part of, its kernel, those of the step's launches
// that it does if there are several, and the bytes that it reads and writes; an arrow from each to those that read what it wrote, with the bytes. Launches
// that were fused have another colour.
func (r *Recording) WriteDOT(w io.Writer) error {
	g := dot.Graph{Name: "recording"}
	for _, l := range r.Launches() {
		fill, lines := "white", append(l.wrapped(), l.Operations...)
		lines = append(lines, l.Kernel)
		if len(l.Step) > 1 {
			fill = "lightblue"
			for j, name := range l.Does {
				lines = append(lines, fmt.Sprintf("step %d: %s", l.Step[j], name))
			}
		}
		g.Nodes = append(g.Nodes, dot.Node{Lines: append(lines, fmt.Sprintf("%d bytes", l.Bytes)), Fill: fill})
	}
	bytes := map[[2]int]int64{}
	var ends [][2]int
	for _, f := range r.flows {
		end := [2]int{f.from, f.to}
		if _, there := bytes[end]; !there {
			ends = append(ends, end)
		}
		bytes[end] += f.bytes
	}
	for _, end := range ends {
		g.Edges = append(g.Edges, dot.Edge{From: end[0], To: end[1], Label: fmt.Sprintf("%d bytes", bytes[end])})
	}
	return g.Write(w)
}
