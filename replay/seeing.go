package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/recorder"
	"github.com/clgrad/clgrad/kernels"
	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/simple"
)

// Launch is one launch of a run.
type Launch struct {
	Kernel string   // that is launched
	Step   []int    // the launches of the step that it does, counted from 0: several if they were joined
	Does   []string // their kernels
	Bytes  int64    // that it reads and writes
}

// flow says that a launch reads what another wrote.
type flow struct {
	from, to int
	bytes    int64
}

// Launches lists the launches of a run, in their order.
func (r *Recording) Launches() []Launch { return slices.Clone(r.listed) }

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
				if at := slices.IndexFunc(from, func(w region) bool { return w.meets(&g) }); at >= 0 {
					r.flows = append(r.flows, flow{list[k], i, min(g.bytes(), from[at].bytes())})
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

// Profile does a run, as [Recording.Run] does, and waits for each launch before the next. It returns how long each took: on
// the device if that was opened with tensor.Options.Profile, else on the host, with starting it and waiting for it. The
// errors are those of Run.
func (r *Recording) Profile() ([]LaunchTime, error) {
	if r.freed {
		return nil, fault("Profile", ErrReleased, "")
	}
	if err := r.ready(); err != nil {
		return nil, err
	}
	programs := make([]recorder.Program, len(r.launches))
	defer func() {
		for _, p := range programs {
			if p != nil {
				p.Free()
			}
		}
	}()
	var times []LaunchTime
	var failed error
	err := func() error {
		if err := r.dev.Claim(); err != nil {
			return err
		}
		defer r.dev.Leave()
		for i := range programs {
			var err error
			if programs[i], err = r.dev.Prepare(r.launches[i : i+1]); err != nil {
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
				times = append(times, LaunchTime{r.listed[i], took})
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

// WriteDOT writes the launches of a run in Graphviz's language: a box for each, with its number, its kernel, those of the
// step's launches that it does if there are several, and the bytes that it reads and writes; an arrow from each to those
// that read what it wrote, with the bytes. Launches that were joined have another colour.
func (r *Recording) WriteDOT(w io.Writer) error {
	g := dotGraph{simple.NewDirectedGraph()}
	for i, l := range r.listed {
		g.AddNode(dotNode{int64(i), l})
	}
	for _, f := range r.flows {
		from, to := int64(f.from), int64(f.to)
		bytes := f.bytes
		if e := g.Edge(from, to); e != nil {
			bytes += e.(dotEdge).bytes
		}
		g.SetEdge(dotEdge{simple.Edge{F: g.Node(from), T: g.Node(to)}, bytes})
	}
	text, err := dot.Marshal(g, "recording", "", "\t")
	if err != nil {
		return fmt.Errorf("replay: WriteDOT: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

type dotGraph struct{ *simple.DirectedGraph }

// DOTAttributers sets the looks of the whole picture.
func (dotGraph) DOTAttributers() (graph, node, edge encoding.Attributer) {
	return attributes{{Key: "rankdir", Value: "TB"}},
		attributes{{Key: "shape", Value: "box"}, {Key: "style", Value: "filled"}, {Key: "fontname", Value: "Helvetica"}}, attributes{}
}

type attributes []encoding.Attribute

func (a attributes) Attributes() []encoding.Attribute { return a }

type dotNode struct {
	id     int64
	launch Launch
}

func (n dotNode) ID() int64 { return n.id }

func (n dotNode) Attributes() []encoding.Attribute {
	fill, lines := "white", []string{fmt.Sprintf("%d %s", n.id, n.launch.Kernel)}
	if len(n.launch.Step) > 1 {
		fill = "lightblue"
		for i, name := range n.launch.Does {
			lines = append(lines, fmt.Sprintf("step %d: %s", n.launch.Step[i], name))
		}
	}
	lines = append(lines, fmt.Sprintf("%d bytes", n.launch.Bytes))
	return []encoding.Attribute{{Key: "label", Value: `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.Join(lines, "\n")) + `"`}, {Key: "fillcolor", Value: fill}}
}

type dotEdge struct {
	simple.Edge
	bytes int64
}

func (e dotEdge) Attributes() []encoding.Attribute {
	return []encoding.Attribute{{Key: "label", Value: fmt.Sprintf(`"%d bytes"`, e.bytes)}}
}
