package fusedmlp

import (
	"fmt"
	"math"
	"strconv"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// The cross-entropy of a step: the loss of the outputs z of a sample with its label, and their
// gradient. As crossentropy_gpu.cl computes it but for the share of a class, exp(z − most) / Σ,
// which needs no second exponential.

// targetParam is the parameter of what the loss compares the outputs with.
func (s *fusedStep) targetParam() string {
	if s.Labels != nil {
		return "IN_INTS(T)"
	}
	return "IN(T)"
}

// lossShare is the text of a group's share of the loss, of the sum that it has.
func (s *fusedStep) lossShare(sum string) string {
	if s.Labels != nil && s.Labels.Mean {
		return sum + " / total"
	}
	return sum
}

// counting reports whether a step has to know how many labels count.
func (s *fusedStep) counting() bool { return s.Labels.Mean || len(s.up.uses) > 0 }

// weightsParam is the parameter of the weights of classes.
func (s *fusedStep) weightsParam() string {
	if s.weighted() {
		return ", IN(C)"
	}
	return ""
}

// labelHead writes the constants of the loss, and the loss and the gradient of output o, of which
// less is log Σ − (z[o] − most) and share the exponential by the sum. With weights of classes heavy
// is that of the label, and heavies the sum of them.
func (s *fusedStep) labelHead(w *writer) {
	l, outputs := s.Labels, s.Layers[len(s.Layers)-1].Outputs
	literal := func(v float64) string { return "NUM(" + strconv.FormatFloat(v, 'e', -1, 64) + ")" }
	v := map[string]any{"ignore": l.Ignore, "outputs": outputs, "own": literal(1 - l.Smoothing), "smoothing": literal(l.Smoothing), "evenLoss": "", "evenSlope": "",
		"all": outputs, "each": ""}
	if l.Weighted {
		v["all"], v["each"] = 0, " * C[C_off + (o)]"
		if l.Smoothing != 0 {
			v["all"] = "heavies"
		}
		v["own"] = fmt.Sprintf("(%s * heavy)", v["own"])
	}
	if l.Smoothing != 0 {
		v["evenLoss"], v["evenSlope"] = " loss += EVEN$each * less;", " - EVEN$each"
	}
	w.p(`
#define COUNTS(t) ((t) != ($ignore) && (t) >= 0 && (t) < $outputs)
#define WEIGHT(t) (COUNTS(t) ? C[C_off + (t)] : 0)
#define OWN $own
#define EVEN ($smoothing / $outputs)
#define SLOPE (OWN + EVEN * $all)
#define ADD_LOSS(o, label, less) { if ((o) == (label)) loss += OWN * (less);$evenLoss }
#define DOWN(o, label, share) (((share) * SLOPE$evenSlope) * up - ((o) == (label) ? OWN * up : 0))
`, v)
}

// weigh writes the sum of the weights of classes, if the loss reads it.
func (s *fusedStep) weigh(w *writer) {
	if s.weighted() && s.Labels.Smoothing != 0 {
		w.p(`
    REAL heavies = 0;
    for (int o = 0; o < $outputs; o++) heavies += C[C_off + o];
`, map[string]any{"outputs": s.Layers[len(s.Layers)-1].Outputs})
	}
}

// heavy declares the weight of a label.
func (s *fusedStep) heavy() string {
	if s.weighted() {
		return "\n            const REAL heavy = WEIGHT(label);"
	}
	return ""
}

// cpuCount makes up, the gradient of the loss of each sample.
func (s *fusedStep) cpuCount(w *writer) {
	switch {
	case s.counting() && !s.weighted():
		w.p(`
    int counted = 0;
    for (int i = 0; i < n; i++) counted += COUNTS(T[T_off + i]);
    const REAL total = counted;
`, nil)
	case s.counting():
		w.p(`
    REAL total = 0;
    for (int i = 0; i < n; i += 256) { // in runs, of which few have large sums
        REAL run = 0;
        for (int k = i; k < n && k < i + 256; k++) run += WEIGHT(T[T_off + k]);
        total += run;
    }
`, nil)
	}
	s.weigh(w)
	w.p("    const REAL up = $up;", map[string]any{"up": call(s.up, 1, "total")})
	if s.Labels.Smoothing != 0 {
		outputs, each := s.Layers[len(s.Layers)-1].Outputs, "EVEN"
		if s.weighted() {
			each = "EVEN * C[C_off + o]"
		}
		w.p(`
    REAL even[$P]; // the part of the loss that an output has of every label
    for (int o = 0; o < $P; o++) even[o] = o < $outputs ? $each : 0;
`, map[string]any{"P": padded(outputs), "outputs": outputs, "each": each})
	}
}

// cpuLabels takes a sample at a time, sixteen outputs beside each other; those that are padding are
// −∞.
func (s *fusedStep) cpuLabels(w *writer, v map[string]any) {
	v["heavy"], v["evens"], v["evenLoss"] = s.heavy(), "", ""
	if s.Labels.Smoothing != 0 {
		v["evens"], v["evenLoss"] = " - vload16(0, even + o)", "\n            for (int o = 0; o < $outputs; o++) loss += even[o] * (log_sum - (z[o] - most));"
	}
	w.p(`
        for (int s = 0; s < live; s++) {
            MEM REAL *z = x$last + s * $P, *e = d0 + s * $P;
            for (int o = $outputs; o < $P; o++) z[o] = -INFINITY;
            REAL16 large = -INFINITY, sums = 0;
            for (int o = 0; o < $P; o += 16) {
                const REAL16 v = vload16(0, z + o);
                large = v > large ? v : large;
            }
            const REAL most = most_of(large);
            for (int o = 0; o < $P; o += 16) {
                const REAL16 v = exp_REAL16(vload16(0, z + o) - most);
                sums += v;
                vstore16(v, 0, e + o);
            }
            const REAL sum = sum_of(sums), log_sum = log(sum);
            const int label = T[T_off + base + s];$heavy
            if (!COUNTS(label)) {
                for (int o = 0; o < $P; o++) e[o] = 0;
                continue;
            }
            for (int o = 0; o < $P; o += 16) vstore16((vload16(0, e + o) / sum * SLOPE$evens) * up, 0, e + o);
            e[label] -= OWN * up;
            loss += OWN * (log_sum - (z[label] - most));$evenLoss
        }
`, v)
}

// gpuCount makes up, as cpuCount does: every group counts all labels.
func (s *fusedStep) gpuCount(w *writer, v map[string]any) {
	if s.counting() {
		v["counted"], v["count"] = "int", "COUNTS"
		if s.weighted() {
			v["counted"], v["count"] = "REAL", "WEIGHT"
		}
		w.p(`
    $counted counted = 0;
#pragma unroll 32
    for (int i = lid; i < n; i += ITEMS) counted += $count(T[T_off + i]);
    stage[lid] = counted;
    for (int span = ITEMS / 2; span > 0; span >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < span) stage[lid] += stage[lid + span];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const REAL total = stage[0];
    barrier(CLK_LOCAL_MEM_FENCE);
`, v)
	}
	s.weigh(w)
	w.p("    const REAL up = $up;", map[string]any{"up": call(s.up, 1, "total")})
}

// gpuLabels has ITEMS / TILE lanes for a sample, which join what they find in stage.
func (s *fusedStep) gpuLabels(w *writer, v map[string]any) {
	v["heavy"] = s.heavy()
	w.p(`
        {
            const int lanes = ITEMS / TILE, s = lid / lanes, lane = lid % lanes;
            local REAL *z = x$last + s * $out;
            REAL large = -INFINITY, part = 0;
            for (int o = lane; o < $outputs; o += lanes) large = z[o] > large ? z[o] : large;
            stage[lid] = large;
            for (int span = lanes / 2; span > 0; span >>= 1) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (lane < span && stage[lid + span] > stage[lid]) stage[lid] = stage[lid + span];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            const REAL most = stage[lid - lane];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int o = lane; o < $outputs; o += lanes) part += exp(z[o] - most);
            stage[lid] = part;
            for (int span = lanes / 2; span > 0; span >>= 1) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (lane < span) stage[lid] += stage[lid + span];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            const REAL sum = stage[lid - lane], log_sum = log(sum);
            const int label = base + s < n ? T[T_off + base + s] : -1, counts = COUNTS(label);$heavy
            for (int o = lane; o < $outputs; o += lanes) {
                if (counts) {
                    const REAL less = log_sum - (z[o] - most);
                    ADD_LOSS(o, label, less)
                    z[o] = DOWN(o, label, exp(z[o] - most) / sum);
                } else {
                    z[o] = 0;
                }
            }
        }
`, v)
}

// labelsCounted returns the gradient of the loss of each sample, and how many labels count, by
// their weights, if that matters.
func (s *fusedStep) labelsCounted(labels []int32, weights func(k int) float64) (up, total float64) {
	if s.counting() {
		for _, t := range labels {
			total += s.labelWeight(t, weights)
		}
	}
	return s.up.program.At(func(int) float64 { return total }, nil), total
}

// labelLoss returns the loss of outputs z with labels, of classes with weights or nil, and sets d
// to the gradient.
func labelLoss[T kernels.Float](loops *vec.Loops[T], l *Labels, z, d []T, labels []int32, weights []T, up T) T {
	if len(labels) == 0 {
		return 0
	}
	n := len(z) / len(labels)
	even, all, loss := T(l.Smoothing)/T(n), T(n), 0.0
	if weights != nil && l.Smoothing != 0 {
		all = 0
		for _, w := range weights {
			all += w
		}
	}
	for i, t := range labels {
		z, d := z[i*n:(i+1)*n], d[i*n:(i+1)*n]
		if !counts(l, t, n) {
			clear(d)
			continue
		}
		var most, sum float64
		if loops != nil {
			most = float64(loops.Max(z))
			loops.MapBy(vec.Sub, d, z, T(most))
			loops.Map(vec.Exp, d, d, d, d, d)
			sum = float64(loops.Sum(d))
		} else {
			most = math.Inf(-1)
			for _, v := range z {
				if float64(v) > most {
					most = float64(v)
				}
			}
			for k, v := range z {
				e := math.Exp(float64(v) - most)
				d[k] = T(e)
				sum += e
			}
		}
		own := T(1 - l.Smoothing)
		if weights != nil {
			own *= weights[t]
		}
		logSum, slope := math.Log(sum), own+even*all
		loss += float64(own) * (logSum - (float64(z[t]) - most))
		if l.Smoothing != 0 {
			for k, v := range z {
				each := float64(even)
				if weights != nil {
					each *= float64(weights[k])
				}
				loss += each * (logSum - (float64(v) - most))
			}
		}
		for k, e := range d {
			v := e / T(sum) * slope
			switch {
			case l.Smoothing != 0 && weights != nil:
				v -= even * weights[k]
			case l.Smoothing != 0:
				v -= even
			}
			if d[k] = v * up; k == int(t) {
				d[k] -= own * up
			}
		}
	}
	return T(loss)
}
