package replay

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Explain writes what became of the step, for people:
//
//   - the launches of the step, and those of a run: what each computes, of which operands, the shape and the type of its
//     result, where that is stored if it stays, the layer and the operation that it is part of, its kernel, and the bytes
//     that it reads and writes
//   - what the passes did, and what they did not, with the [Reason]
//   - the memory of a run
//   - how long the parts of Record took
//
// In the lines of launches %3 is the result of launch 3 of the same list, %3.1 its second; t0 is what the first operation
// of the launch made for the next. The error is that of w.
func (r *Recording) Explain(w io.Writer) error {
	b := bufio.NewWriter(w)
	if r.before != nil {
		fmt.Fprintf(b, "step: %s\n", count(len(r.before.launches), "launch"))
		r.lines(b, r.before)
		hoisted := ""
		if n := r.report.Hoisted; n > 0 {
			hoisted = fmt.Sprintf(", and %d that were done when the step was recorded", n)
		}
		fmt.Fprintf(b, "\nrun: %s%s\n", count(len(r.after.launches), "launch"), hoisted)
		r.lines(b, r.after)
	}
	fmt.Fprintf(b, "\ndone:\n")
	for _, d := range r.decisions {
		if d.why == nil {
			fmt.Fprintf(b, "  %s\n", d)
		}
	}
	fmt.Fprintf(b, "\nnot done:\n")
	for _, f := range r.Refusals() {
		fmt.Fprintf(b, "  [%s] %s\n", f.Reason, f)
	}
	p := r.report
	fmt.Fprintf(b, "\nmemory of a run: %s for temporaries (%s in all, %s at one time; the eager step took %s), %s of constants, %s of outputs, %s of inputs and parameters\n",
		bytesIn(p.PlannedBytes), bytesIn(p.TemporaryBytes), bytesIn(p.PeakBytes), bytesIn(p.EagerBytes), bytesIn(p.ConstantBytes), bytesIn(p.OutputBytes), bytesIn(p.InputBytes))
	fmt.Fprintf(b, "\nrecorded in %v: the step twice %v, passes %v, planning memory %v, building kernels %v, the first runs %v\n",
		round(p.Took), round(r.times.Tracing), round(p.Rewriting), round(r.times.Planning), round(p.Building), round(r.times.Running))
	for _, t := range r.times.Passes {
		fmt.Fprintf(b, "  pass %s: %v\n", t.Pass, round(t.Took))
	}
	for _, k := range r.times.Kernels {
		fmt.Fprintf(b, "  kernel %s: %v\n", k.Kernel, round(k.Took))
	}
	return b.Flush()
}

// lines writes the launches of a listing.
func (r *Recording) lines(w io.Writer, l *listing) {
	p := newPrinter(l)
	for i, x := range l.launches {
		text := p.launch(i)
		if of := r.sourcesOf(x.from); len(of) > 0 {
			text += "  # " + strings.Join(of, " + ")
		}
		fmt.Fprintf(w, "  %s  [%s, reads %s, writes %s]\n", text, x.kernel.Name, bytesIn(x.reads), bytesIn(x.writes))
	}
}

// sourcesOf returns what launches of the step are part of, each once.
func (r *Recording) sourcesOf(from []int) (list []string) {
	for _, i := range from {
		if s := r.sources[i].String(); s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ses", n, what)
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// bytesIn prints bytes: "3.2 MB".
func bytesIn(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%.4g kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.4g MB", float64(n)/1e6)
}
