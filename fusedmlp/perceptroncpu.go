package fusedmlp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// How a CPU goes through samples: so many at a time, in blocks of some rows by vectors of 16. See
// mlp_cpu.cl.
const (
	stepTile = 96
	stepRows = 6
)

// blockVectors is how many vectors of 16 a block is wide, of a layer of n padded columns: as many
// as registers hold the sums of.
func blockVectors(n int) int {
	for v := 4; v > 1; v-- {
		if n%(16*v) == 0 {
			return v
		}
	}
	return 1
}

// cpuText takes the samples of a work-group, which is one work-item, a tile at a time, so that what
// the layers make of it stays in the second-level cache. Weights are copied once, and transposed,
// with rows of whole vectors.
func (s *fusedStep) cpuText() string {
	var w writer
	s.head(&w, "// A whole training step of a perceptron in one launch, for CPUs, as internal/ops/perceptroncpu.go generates it.", 1, 16)
	w.p(`
#define TILE $tile
#define MR $rows
#define MEM $memory

// acc[r][v] += Σ_k a[at[r] + k·step]·b[k·row + 16v …], k below count.
#define BLOCK_BODY(WIDE)                                                                               \
    for (int k = 0; k < count; k++) {                                                                  \
        REAL16 bk[WIDE];                                                                               \
        _Pragma("unroll") for (int v = 0; v < WIDE; v++) bk[v] = vload16(v, b + k * row);              \
        _Pragma("unroll") for (int r = 0; r < MR; r++) {                                               \
            const REAL16 x = (REAL16)(a[at[r] + k * step]);                                            \
            _Pragma("unroll") for (int v = 0; v < WIDE; v++) acc[r][v] = fma(x, bk[v], acc[r][v]);     \
        }                                                                                              \
    }
`, map[string]any{"tile": stepTile, "rows": stepRows, "memory": s.cpuMemory()})
	if s.Labels != nil {
		w.p(`
static REAL most_of(REAL16 v) {
    const REAL8 a = v.lo > v.hi ? v.lo : v.hi;
    const REAL4 b = a.lo > a.hi ? a.lo : a.hi;
    const REAL2 c = b.lo > b.hi ? b.lo : b.hi;
    return c.x > c.y ? c.x : c.y;
}

static REAL sum_of(REAL16 v) {
    const REAL8 a = v.lo + v.hi;
    const REAL4 b = a.lo + a.hi;
    const REAL2 c = b.lo + b.hi;
    return c.x + c.y;
}
`, nil)
	}
	for i, l := range s.Layers {
		s.cpuLayer(&w, i, l)
	}
	s.cpuKernel(&w)
	return w.String()
}

func padded(n int) int { return intmath.RoundUp(n, 16) }

func (s *fusedStep) cpuLayer(w *writer, i int, l Layer) {
	value, keep, keepParam := "k", "", ""
	if s.values[i] != nil {
		operands, params := s.skipped(i, "MEM ", func(j int) string { return fmt.Sprintf("vload16(v, skip%d + (s + r) * %d + j)", j, s.cpuRow(j)) })
		value, keepParam = call(s.values[i], 16, operands...), params
		if s.keepsSums(i) {
			keep = "vstore16(" + s.keptOf(i, 16) + ", v, sums + (s + r) * $P + j);\n                    "
			keepParam = "MEM REAL *sums, " + keepParam
		}
	}
	in := s.cpuRow(i)
	v := map[string]any{"i": i, "K": l.Inputs, "N": l.Outputs, "P": padded(l.Outputs), "V": blockVectors(padded(l.Outputs)), "in": in, "kept": call(s.kept[i], 16, "z"), "value": value,
		"sums": keepParam, "W": l.Weights, "B": l.Bias}
	w.p(`
static void forward$i(MEM const REAL *a, MEM REAL *out, $sumsMEM const REAL *w, MEM const REAL *bias, int samples) {
    const int step = 1, count = $K, row = $P;
    for (int j = 0; j < $P; j += 16 * $V) {
        MEM const REAL *b = w + j;
        for (int s = 0; s < samples; s += MR) {
            int at[MR];
            REAL16 acc[MR][$V];
            _Pragma("unroll") for (int r = 0; r < MR; r++) {
                at[r] = (s + r) * $in;
                _Pragma("unroll") for (int v = 0; v < $V; v++) acc[r][v] = vload16(v, bias + j);
            }
            BLOCK_BODY($V)
            _Pragma("unroll") for (int r = 0; r < MR; r++)
                _Pragma("unroll") for (int v = 0; v < $V; v++) {
                    const REAL16 z = acc[r][v], k = $kept, y = $value;
`+"                    "+keep+`vstore16(y, v, out + (s + r) * $P + j);
                }
        }
    }
}

static void weights$i(MEM const REAL *a, MEM const REAL *d, global REAL *part, int add, int samples) {
    const int step = $in, count = samples, row = $P;
    for (int j = 0; j < $P; j += 16 * $V) {
        MEM const REAL *b = d + j;
        for (int i = 0; i < $K; i += MR) {
            int at[MR];
            REAL16 acc[MR][$V];
            _Pragma("unroll") for (int r = 0; r < MR; r++) {
                at[r] = min(i + r, $K - 1);
                _Pragma("unroll") for (int v = 0; v < $V; v++) acc[r][v] = 0;
            }
            BLOCK_BODY($V)
            for (int r = 0; r < MR && i + r < $K; r++) {
                global REAL *p = part + $W + (i + r) * $N + j;
                for (int v = 0; v < $V; v++) {
                    if (j + 16 * v + 16 <= $N) {
                        vstore16(add ? vload16(v, p) + acc[r][v] : acc[r][v], v, p);
                    } else {
                        REAL last[16];
                        vstore16(acc[r][v], 0, last);
                        for (int k = 0; j + 16 * v + k < $N; k++) p[16 * v + k] = add ? p[16 * v + k] + last[k] : last[k];
                    }
                }
            }
        }
    }
`, v)
	if l.Bias >= 0 {
		w.p(`
    for (int j = 0; j < $P; j += 16) {
        REAL16 sum = 0;
        REAL all[16];
        for (int s = 0; s < samples; s++) sum += vload16(0, d + s * $P + j);
        vstore16(sum, 0, all);
        for (int k = 0; k < 16 && j + k < $N; k++) part[$B + j + k] = add ? part[$B + j + k] + all[k] : all[k];
    }
`, v)
	}
	w.p("}\n", nil)
	if i == 0 && !s.down {
		return
	}
	// wt is the transpose of the weights, of padded rows.
	slope, sums := "g", ""
	if i > 0 {
		slope = call(s.slopes[i-1], 16, "vload16(v, sums + (s + r) * $Q + j)", "vload16(v, x + (s + r) * $Q + j)", "g")
		if s.keepsSums(i - 1) {
			sums = "MEM const REAL *sums, "
		}
	}
	operands, params, keep := s.joined(i, "MEM ", "acc[r][v]", func(place int) string { return fmt.Sprintf("vload16(v, g%d + (s + r) * $Q + j)", place) })
	sums += params
	if keep != "" {
		keep = strings.Replace(keep, "vload16(", "vstore16(g, ", 1) + ";\n                    "
	}
	v["joined"], v["keep"] = call(s.joins[i], 16, operands...), keep
	v["Q"], v["V"], v["sums"] = padded(l.Inputs), blockVectors(padded(l.Inputs)), sums
	w.p(`
static void backward$i(MEM const REAL *a, MEM REAL *out, MEM const REAL *x, $sumsMEM const REAL *wt, int samples) {
    const int step = 1, count = $N, row = $Q;
    for (int j = 0; j < $Q; j += 16 * $V) {
        MEM const REAL *b = wt + j;
        for (int s = 0; s < samples; s += MR) {
            int at[MR];
            REAL16 acc[MR][$V];
            _Pragma("unroll") for (int r = 0; r < MR; r++) {
                at[r] = (s + r) * $P;
                _Pragma("unroll") for (int v = 0; v < $V; v++) acc[r][v] = 0;
            }
            BLOCK_BODY($V)
            _Pragma("unroll") for (int r = 0; r < MR; r++)
                _Pragma("unroll") for (int v = 0; v < $V; v++) {
                    const REAL16 g = $joined;
                    $keepvstore16(`+slope+`, v, out + (s + r) * $Q + j);
                }
        }
    }
}
`, v)
}

// cpuStack is how many bytes of a thread's stack a step may take: runtimes that start threads may
// give them 2 MiB.
const cpuStack = 768 << 10

// cpuArray is memory that a work-item has on a CPU.
type cpuArray struct {
	name     string
	elements int
}

// cpuArrays are all that there are: the inputs, what the layers make of a tile of samples, their
// weights, and gradients.
func (p *Perceptron) cpuArrays(down bool) (list []cpuArray) {
	widest := 0
	for i, l := range p.Layers {
		k, n := padded(l.Inputs), padded(l.Outputs)
		widest = max(widest, k, n)
		list = append(list, cpuArray{fmt.Sprint("x", i), stepTile * n}, cpuArray{fmt.Sprint("w", i), l.Inputs * n}, cpuArray{fmt.Sprint("b", i), n})
		if p.keepsSums(i) {
			list = append(list, cpuArray{fmt.Sprint("z", i), stepTile * n})
		}
		if i > 0 || down {
			list = append(list, cpuArray{fmt.Sprint("t", i), l.Outputs * k})
		}
	}
	_, places := p.gradientPlaces()
	for place, n := range places {
		list = append(list, cpuArray{fmt.Sprint("g", place), stepTile * padded(n)})
	}
	return append(list, cpuArray{"in", stepTile * p.cpuRow(0)}, cpuArray{"d0", stepTile * widest}, cpuArray{"d1", stepTile * widest})
}

// cpuOutside returns the elements that a work-item has in global memory: all, if its stack has no
// room for them.
func (p *Perceptron) cpuOutside(t kernels.DType, down bool) (all int) {
	for _, a := range p.cpuArrays(down) {
		all += a.elements
	}
	if all*t.Size() <= cpuStack {
		return 0
	}
	return all
}

// cpuMemory is the address space of those.
func (s *fusedStep) cpuMemory() string {
	if s.cpuOutside(s.float, s.down) > 0 {
		return "global"
	}
	return ""
}

// cpuPlaces writes the declarations of all that memory.
func (s *fusedStep) cpuPlaces(w *writer) {
	at, all := 0, s.cpuOutside(s.float, s.down)
	for _, a := range s.cpuArrays(s.down) {
		v := map[string]any{"name": a.name, "n": a.elements, "all": all, "at": at}
		if all > 0 {
			w.p("    global REAL *$name = S + S_off + (long)get_group_id(0) * $all + $at;", v)
		} else {
			w.p("    REAL $name[$n];", v)
		}
		at += a.elements
	}
}

// cpuRow is how far apart the rows of what layer i reads are: padded, but for the inputs, which lie
// as they come unless another layer reads them, too.
func (p *Perceptron) cpuRow(i int) int {
	n := p.Layers[i].Inputs
	if i == 0 && !slices.ContainsFunc(p.Layers, func(l Layer) bool { return slices.Contains(skips(&l), 0) }) {
		return n
	}
	return padded(n)
}

func (s *fusedStep) cpuKernel(w *writer) {
	last := len(s.Layers) - 1
	inputs, outputs := s.Layers[0].Inputs, s.Layers[last].Outputs
	v := map[string]any{"inputs": inputs, "outputs": outputs, "P": padded(outputs), "size": s.Size(), "block": s.block, "last": last,
		"in": s.cpuRow(0), "T": s.targetParam(), "share": s.lossShare("losses"), "C": s.weightsParam(), "S": s.scratchParam()}
	w.p(`
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_perceptron(IN(X), $T, IN(W), OUT(PART), OUT(LOSS), OUT(DX), int n, IN(V)$C$S) {
`, v)
	s.cpuPlaces(w)
	for i, l := range s.Layers {
		names := map[string]any{"i": i, "K": l.Inputs, "N": l.Outputs, "P": padded(l.Outputs), "Q": padded(l.Inputs), "W": l.Weights, "B": l.Bias}
		w.p(`
    for (int k = 0; k < $K; k++) {
        for (int j = 0; j < $P; j++) w$i[k * $P + j] = j < $N ? W[W_off + $W + k * $N + j] : 0;
    }
`, names)
		if l.Bias >= 0 {
			w.p("    for (int j = 0; j < $P; j++) b$i[j] = j < $N ? W[W_off + $B + j] : 0;", names)
		} else {
			w.p("    for (int j = 0; j < $P; j++) b$i[j] = 0;", names)
		}
		if i > 0 || s.down {
			w.p(`
    for (int k0 = 0; k0 < $Q; k0 += 16) { // as many rows as the first-level cache holds lines of, whatever the distance
        for (int j = 0; j < $N; j++) {
            for (int k = k0; k < k0 + 16; k++) t$i[j * $Q + k] = k < $K ? w$i[k * $P + j] : 0;
        }
    }
`, names)
		}
	}
	w.p(`
    const int g = get_group_id(0), groups = get_num_groups(0);
    const long blocks = (n + $block - 1) / $block;
    const int from = blocks * g / groups * $block, to = min((long)n, blocks * (g + 1) / groups * $block);
    global REAL *part = PART + PART_off + g * $size;
    REAL losses = 0, levels[PAIR_LEVELS]; // of all tiles so far
    int tiles = 0;
`, v)
	if s.Labels != nil {
		s.cpuCount(w)
	}
	w.p(`
    for (int base = from; base < to; base += TILE) {
        const int live = min(TILE, to - base), add = base > from;
        const int samples = (live + MR - 1) / MR * MR; // whole blocks
        REAL loss = 0;
`, v)
	if s.cpuRow(0) == inputs {
		w.p(`
        for (int i = 0; i < live * $inputs; i++) in[i] = X[X_off + base * $inputs + i];
        for (int i = live * $inputs; i < samples * $inputs; i++) in[i] = 0;
`, v)
	} else {
		w.p(`
        for (int s = 0; s < samples; s++) {
            for (int i = 0; i < $in; i++) in[s * $in + i] = s < live && i < $inputs ? X[X_off + (base + s) * $inputs + i] : 0;
        }
`, v)
	}
	for i, l := range s.Layers {
		names := map[string]any{"i": i, "a": s.cpuName(i), "sums": ""}
		if s.keepsSums(i) {
			names["sums"] = fmt.Sprintf("z%d, ", i)
		}
		for _, j := range skips(&l) {
			names["sums"] = fmt.Sprint(names["sums"], s.cpuName(j), ", ")
		}
		w.p("        forward$i($a, x$i, $sumsw$i, b$i, samples);", names)
	}
	w.p(`
        for (int i = 0; i < samples * $P; i++) d0[i] = 0;
`, v)
	if s.Labels != nil {
		s.cpuLabels(w, v)
	} else {
		v["error"], v["down"] = call(s.error, 1, "z", "t"), call(s.slope, 1, "z", "t")
		w.p(`
        for (int s = 0; s < live; s++) {
            for (int o = 0; o < $outputs; o++) {
                const REAL z = x$last[s * $P + o], t = T[T_off + (base + s) * $outputs + o];
                loss += $error;
                d0[s * $P + o] = $down;
            }
        }
`, v)
	}
	if place := s.place[last+1]; place >= 0 {
		v["place"] = place
		w.p("        for (int i = 0; i < samples * $P; i++) g$place[i] = d0[i];", v)
	}
	now := 0
	for i := last; i >= 0; i-- {
		names := map[string]any{"i": i, "a": s.cpuName(i), "now": now, "next": 1 - now, "sums": "", "x": s.cpuName(i)}
		if i > 0 && s.keepsSums(i-1) {
			names["sums"] = fmt.Sprintf("z%d, ", i-1)
		}
		names["sums"] = fmt.Sprint(names["sums"], passedOn("g", s.placesOf(i)))
		w.p("        weights$i($a, d$now, part, add, samples);", names)
		if i > 0 || s.down {
			w.p("        backward$i(d$now, d$next, $x, $sumst$i, samples);", names)
		}
		now = 1 - now
	}
	if s.down {
		v["now"], v["Q"] = now, padded(inputs)
		w.p(`
        for (int s = 0; s < live; s++) {
            for (int i = 0; i < $inputs; i++) DX[DX_off + (base + s) * $inputs + i] = d$now[s * $Q + i];
        }
`, v)
	}
	w.p(`
        losses += loss;
        tiles++;
        PAIRWISE(losses, levels, tiles);
    }
    PAIRWISE_END(losses, levels, tiles);
    LOSS[LOSS_off + g] = $share;
}
`, v)
}

// cpuName is what the memory of what layer i reads is called.
func (s *fusedStep) cpuName(i int) string {
	if i == 0 {
		return "in"
	}
	return fmt.Sprint("x", i-1)
}
