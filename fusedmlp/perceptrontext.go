package fusedmlp

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels/expr"
)

// writer collects the text of a kernel.
type writer struct{ strings.Builder }

// p writes lines, in which $name stands for a value.
func (w *writer) p(text string, values map[string]any) {
	var pairs []string
	for _, name := range slices.Backward(slices.Sorted(mapKeys(values))) { // longer names before what they begin with
		pairs = append(pairs, "$"+name, fmt.Sprint(values[name]))
	}
	to := strings.NewReplacer(pairs...)
	w.WriteString(to.Replace(to.Replace(strings.Trim(text, "\n")))) // a value may name others
	w.WriteString("\n")
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// head writes what both texts begin with: the formulas, for vectors of some widths.
func (s *fusedStep) head(w *writer, what string, widths ...int) {
	depends := []string{"common", "vector", "pairwise"}
	if s.Labels != nil {
		depends = append(depends, "exp")
	}
	for _, fn := range s.formulas() {
		for _, file := range fn.program.Depends() {
			if !slices.Contains(depends, file) {
				depends = append(depends, file)
			}
		}
	}
	targets := "T: [s*outputs + o]"
	if s.Labels != nil {
		targets = "T: [s], labels"
	}
	w.p("// @depends: "+strings.Join(depends, ", ")+"\n"+what+`
//
// X: [s*inputs + i]  `+targets+`. W holds all parameters, and PART [groups, size] the shares of their gradient, in the layout of
// W. The samples are shared out among the work-groups in runs of blocks; group g writes its share of the loss to LOSS[g].
// On GPUs V holds weights transposed, as k_perceptron_turn writes them.
`+expr.Prelude+"\n"+sourceGet, nil)
	if s.Labels != nil {
		s.labelHead(w)
	}
	for _, fn := range s.formulas() {
		if fn.value.IsZero() {
			continue
		}
		for _, width := range widths {
			t := expr.Types{Vector: "REAL", Scalar: "REAL", Width: width}
			if width > 1 {
				t.Vector += fmt.Sprint(width)
			}
			w.WriteString(fn.program.Function(fmt.Sprintf("%s_%d", fn.name, width), t, fn.uses, nil))
			w.WriteString("\n")
		}
	}
}

// call is the text of a formula of operands, for vectors of a width; of none, the first operand.
func call(fn *formula, width int, operands ...string) string {
	switch {
	case fn == nil:
		return operands[0]
	case fn.value.IsZero():
		return "0"
	}
	var used []string
	for _, i := range fn.uses {
		used = append(used, operands[i])
	}
	return fmt.Sprintf("%s_%d(%s)", fn.name, width, strings.Join(used, ", "))
}

// skipped returns the operands of the formula of what layer i + 1 reads, of which the first is k
// and the others are those of at, and the parameters that are pointers to them.
func (s *fusedStep) skipped(i int, qualifier string, at func(j int) string) (operands []string, params string) {
	operands = make([]string, i+2)
	operands[0] = "k"
	for _, j := range skips(&s.Layers[i]) {
		operands[j+1] = at(j)
		params += fmt.Sprintf("%sconst REAL *skip%d, ", qualifier, j)
	}
	return operands, params
}

// joined returns the operands of the gradient of what layer i reads, of which the first is its own
// part and the others are those of at, in their places; the parameters that are pointers to these;
// and where the gradient is kept, "" for nowhere.
func (s *fusedStep) joined(i int, qualifier, part string, at func(place int) string) (operands []string, params, keep string) {
	operands = make([]string, len(s.Layers)+1)
	operands[0] = part
	for _, j := range joins(&s.Layers[i]) {
		operands[j] = at(s.place[j])
	}
	for _, place := range s.placesOf(i) {
		params += fmt.Sprintf("%sREAL *g%d, ", qualifier, place)
	}
	if s.place[i] >= 0 {
		keep = at(s.place[i])
	}
	return operands, params, keep
}

// keptOf is the text of what the gradient of layer i reads of its sums, of k and of the value y.
func (s *fusedStep) keptOf(i, width int) string {
	if s.factors[i] == nil {
		return "k"
	}
	return call(s.factors[i], width, "k", "y")
}

// placesOf are the places of gradients that layer i reads or writes.
func (s *fusedStep) placesOf(i int) (list []int) {
	for _, j := range joins(&s.Layers[i]) {
		list = append(list, s.place[j])
	}
	if s.place[i] >= 0 {
		list = append(list, s.place[i])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// passedOn is the text of arguments, with a prefix.
func passedOn(prefix string, numbers []int) (text string) {
	for _, i := range numbers {
		text += fmt.Sprint(prefix, i, ", ")
	}
	return text
}

// gpuText keeps what the layers make of a tile of samples in local memory: x of each, and, if there
// is room, what a gradient reads of z. From the top down x becomes the gradient of the z below.
func (s *fusedStep) gpuText() string {
	var w writer
	s.head(&w, "// A whole training step of a perceptron in one launch, for GPUs, as internal/ops/perceptrontext.go generates it.", 1, 2, 4)
	tile, last := s.block, len(s.Layers)-1
	w.p(`
#define TILE $tile
#define ITEMS $items
#define INPUTS $inputs
#define OUTPUTS $outputs
#define LOCAL1(p) (*(p))
#define LOCAL2(p) (*(local REAL2 *)(p))
#define LOCAL4(p) (*(local REAL4 *)(p))
#define CONST1(p) (*(p))
#define CONST2(p) (*(global const REAL2 *)(p))
#define CONST4(p) (*(global const REAL4 *)(p))
#define GLOBAL1(p) (*(p))
#define GLOBAL2(p) (*(global REAL2 *)(p))
#define GLOBAL4(p) (*(global REAL4 *)(p))
#define REAL1 REAL
`, map[string]any{"tile": tile, "items": mlpItems, "inputs": s.Layers[0].Inputs, "outputs": s.Layers[last].Outputs})
	for i, l := range s.Layers {
		s.gpuLayer(&w, i, l)
	}
	s.gpuKernel(&w, last)
	return w.String()
}

// columns returns how many neighbours a work-item makes at once of n, at most so many.
func columns(n, most int) int {
	for c := most; c > 1; c /= 2 {
		if n%c == 0 {
			return c
		}
	}
	return 1
}

// block is what a work-item makes at once of a result.
type block struct{ rows, cols int }

// shareOut returns the block, of at most so many columns, with which the work-items of a group are
// done first with a result of so many rows, a power of two, and columns. Cost is what a block takes
// a work-item, with what it loads. Columns are divided without a rest.
func shareOut(rows, cols, most int, cost func(rows, cols int) int) block {
	best, least := block{1, 1}, math.MaxInt
	for r := 1; r <= min(8, rows); r *= 2 {
		for c := 1; c <= columns(cols, most); c *= 2 {
			rounds := intmath.CeilDiv(rows/r*(cols/c), mlpItems)
			if all := rounds * cost(r, c); all < least {
				best, least = block{r, c}, all
			}
		}
	}
	return best
}

// shareWeights returns the block of the gradient of a layer's weights that a work-item makes at
// once: more, where work-items have that much to do, and else four rows by a vector.
func shareWeights(l *Layer) block {
	b := block{4, columns(l.Outputs, 4)}
	if l.Inputs*l.Outputs >= 32*mlpItems || b.cols < 4 && intmath.CeilDiv(l.Inputs, 4)*(l.Outputs/b.cols) > mlpItems {
		b.rows = 8
	}
	if l.Inputs*l.Outputs >= 64*mlpItems {
		b.cols = columns(l.Outputs, 8)
	}
	return b
}

func (s *fusedStep) gpuLayer(w *writer, i int, l Layer) {
	tile := s.block
	// For four steps of k a work-item loads samples and four rows of weights.
	made := shareOut(tile, l.Outputs, 4, func(samples, cols int) int { return 4*samples*cols + 16*cols + 4*samples })
	samples, cols := made.rows, made.cols
	keep, keepParam := "", ""
	value := "k"
	if s.values[i] != nil {
		operands, params := s.skipped(i, s.keptIn().space+" ", func(j int) string {
			return fmt.Sprintf("%s(skip%d + (s + r) * %d + j)", s.keptIn().at(cols), j, s.row(j))
		})
		value, keepParam = call(s.values[i], cols, operands...), params
		if s.keepsSums(i) {
			keep = fmt.Sprintf("%s(sums + (s + r) * %d + j) = %s;\n            ", s.sumsIn().at(cols), s.row(i+1), s.keptOf(i, cols))
			keepParam = s.sumsIn().space + " REAL *sums, " + keepParam
		}
	}
	copies := ""
	if s.keeps == keptInTurn && s.copied(i+1) {
		copies, keepParam = fmt.Sprintf("\n            GLOBAL%d(copy + (s + r) * %d + j) = y;", cols, s.row(i+1)), "global REAL *copy, "+keepParam
	}
	bias := "0"
	if l.Bias >= 0 {
		bias = fmt.Sprintf("CONST%d(w + %d + j)", cols, l.Bias)
	}
	v := map[string]any{"i": i, "K4": l.Inputs / 4 * 4, "K": l.Inputs, "N": l.Outputs, "in": s.row(i), "out": s.row(i + 1), "C": cols, "S": samples,
		"W": l.Weights, "bias": bias, "kept": call(s.kept[i], cols, "z[r]"), "value": value, "keep": keep, "copies": copies, "sums": keepParam}
	w.p(`
static __attribute__((always_inline)) void forward$i(local const REAL *in, local REAL *out, $sumsglobal const REAL *w, int lid) {
    for (int e = lid; e < TILE / $S * ($N / $C); e += ITEMS) {
        const int j = e % ($N / $C) * $C, s = e / ($N / $C) * $S;
        REAL$C z[$S];
        for (int r = 0; r < $S; r++) z[r] = $bias;
#pragma unroll 8
        for (int k = 0; k < $K4; k += 4) {
            global const REAL *wk = w + $W + k * $N + j;
            const REAL$C w0 = CONST$C(wk), w1 = CONST$C(wk + $N), w2 = CONST$C(wk + 2 * $N), w3 = CONST$C(wk + 3 * $N);
            for (int r = 0; r < $S; r++) {
                const REAL4 x = LOCAL4(in + (s + r) * $in + k);
                z[r] = fma((REAL$C)(x.s3), w3, fma((REAL$C)(x.s2), w2, fma((REAL$C)(x.s1), w1, fma((REAL$C)(x.s0), w0, z[r]))));
            }
        }
        for (int k = $K4; k < $K; k++) {
            const REAL$C wk = CONST$C(w + $W + k * $N + j);
            for (int r = 0; r < $S; r++) z[r] = fma((REAL$C)(in[(s + r) * $in + k]), wk, z[r]);
        }
        for (int r = 0; r < $S; r++) {
            const REAL$C k = $kept, y = $value;
            $keepLOCAL$C(out + (s + r) * $out + j) = y;$copies
        }
    }
}
`, v)
	// The gradient of the weights: a work-item makes R rows by CN vectors of C columns. Work-items
	// beside each other have vectors beside each other, so that they read different banks of local
	// memory.
	share := shareWeights(&l)
	across, down := l.Outputs/share.cols, intmath.CeilDiv(l.Inputs, share.rows)
	v["C"], v["CN"], v["R"], v["blocks"] = min(share.cols, 4), max(1, share.cols/4), share.rows, across*down
	v["across"], v["apart"] = across, across*4
	w.p(`
static __attribute__((always_inline)) void weights$i(local const REAL *x, local const REAL *d, global REAL *part, int add, int lid) {
    for (int e = lid; e < $blocks; e += ITEMS) {
        const int j = e % $across * $C, i = e / $across * $R;
        REAL$C a[$R][$CN];
        for (int r = 0; r < $R; r++)
            for (int v = 0; v < $CN; v++) a[r][v] = 0;
#pragma unroll 8
        for (int s = 0; s < TILE; s++) {
            REAL$C ds[$CN];
            for (int v = 0; v < $CN; v++) ds[v] = LOCAL$C(d + s * $out + j + v * $apart);
            for (int r = 0; r < $R; r += 4) {
                const REAL4 xs = LOCAL4(x + s * $in + i + r);
                for (int v = 0; v < $CN; v++) {
                    a[r][v] = fma((REAL$C)(xs.s0), ds[v], a[r][v]);
                    a[r + 1][v] = fma((REAL$C)(xs.s1), ds[v], a[r + 1][v]);
                    a[r + 2][v] = fma((REAL$C)(xs.s2), ds[v], a[r + 2][v]);
                    a[r + 3][v] = fma((REAL$C)(xs.s3), ds[v], a[r + 3][v]);
                }
            }
        }
        global REAL *p = part + $W + i * $N + j;
        for (int r = 0; r < $R; r++) {
            for (int v = 0; v < $CN; v++) {
                if (i + r < $K) GLOBAL$C(p + r * $N + v * $apart) = add ? GLOBAL$C(p + r * $N + v * $apart) + a[r][v] : a[r][v];
            }
        }
    }
`, v)
	if l.Bias >= 0 {
		v["B"] = l.Bias
		w.p(`
    for (int j = lid; j < $N; j += ITEMS) {
        REAL a = 0;
        for (int s = 0; s < TILE; s++) a += d[s * $out + j];
        part[$B + j] = add ? part[$B + j] + a : a;
    }
`, v)
	}
	w.p("}", nil)
	if i > 0 || s.down {
		s.gpuBackward(w, i, l, v)
	}
}

// gpuBackward makes x the gradient of the z below: a work-item makes Q samples by 4 neighbours, for
// which it reads rows of the transposed weights.
func (s *fusedStep) gpuBackward(w *writer, i int, l Layer, v map[string]any) {
	starts, _ := s.turned(s.down)
	up := intmath.RoundUp(l.Inputs, 4)
	made := shareOut(s.block, up/4, 1, func(samples, _ int) int { return 16*samples + 64 + 4*samples })
	slope, sums := "g", ""
	if i > 0 && s.slopes[i-1] != nil {
		slope = call(s.slopes[i-1], 4, fmt.Sprintf("%s(sums + (s + r) * %d + k)", s.sumsIn().at(4), s.row(i)), fmt.Sprintf("LOCAL4(x + (s + r) * %d + k)", s.row(i)), "g")
		if s.keepsSums(i - 1) {
			sums = s.sumsIn().space + " REAL *sums, "
		}
	}
	operands, params, keep := s.joined(i, s.keptIn().space+" ", "a[r]", func(place int) string {
		return fmt.Sprintf("%s(g%d + (s + r) * %d + k)", s.keptIn().at(4), place, s.row(i))
	})
	if keep != "" {
		keep += " = g;\n            "
	}
	v["joined"], v["keep"], v["slope"], v["sums"] = call(s.joins[i], 4, operands...), keep, slope, sums+params
	v["Q"], v["Up"], v["N4"], v["V"] = made.rows, up, l.Outputs/4*4, starts[i]
	w.p(`
static __attribute__((always_inline)) void backward$i(local const REAL *d, local REAL *x, $sumsglobal const REAL *turned, int lid) {
    for (int e = lid; e < TILE / $Q * ($Up / 4); e += ITEMS) {
        const int k = e % ($Up / 4) * 4, s = e / ($Up / 4) * $Q;
        global const REAL *v = turned + $V + k;
        REAL4 a[$Q];
        for (int r = 0; r < $Q; r++) a[r] = 0;
#pragma unroll 8
        for (int j = 0; j < $N4; j += 4, v += 4 * $Up) {
            const REAL4 v0 = CONST4(v), v1 = CONST4(v + $Up), v2 = CONST4(v + 2 * $Up), v3 = CONST4(v + 3 * $Up);
            for (int r = 0; r < $Q; r++) {
                const REAL4 ds = LOCAL4(d + (s + r) * $out + j);
                a[r] = fma((REAL4)(ds.s3), v3, fma((REAL4)(ds.s2), v2, fma((REAL4)(ds.s1), v1, fma((REAL4)(ds.s0), v0, a[r]))));
            }
        }
        for (int j = $N4; j < $N; j++, v += $Up) {
            for (int r = 0; r < $Q; r++) a[r] = fma((REAL4)(d[(s + r) * $out + j]), CONST4(v), a[r]);
        }
        for (int r = 0; r < $Q; r++) {
            const REAL4 g = $joined;
            $keepLOCAL4(x + (s + r) * $in + k) = $slope;
        }
    }
}
`, v)
}

func (s *fusedStep) gpuKernel(w *writer, last int) {
	inputs, outputs := s.Layers[0].Inputs, s.Layers[last].Outputs
	w.p(`
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_perceptron(IN(X), $T, IN(W), OUT(PART), OUT(LOSS), OUT(DX), int n, IN(V)$C$S GET_PARAMS) {
    local REAL stage[ITEMS];
    GET_LOCALS
`, map[string]any{"T": s.targetParam(), "C": s.weightsParam(), "S": s.scratchParam()})
	s.placeAll(w)
	v := map[string]any{"last": last + 1, "inputs": inputs, "outputs": outputs, "in": s.row(0), "out": s.row(last + 1), "size": s.Size(), "first": ""}
	if s.keeps == keptInTurn && s.copied(0) {
		v["first"] = "a0[s * $in + i] = "
	}
	w.p(`
    const int lid = get_local_id(0), g = get_group_id(0), groups = get_num_groups(0);
    global const REAL *w = W + W_off;
    global REAL *part = PART + PART_off + g * $size;
    REAL loss = 0;
`, v)
	if s.Labels != nil {
		s.gpuCount(w, v)
	}
	w.p(`
    const long tiles = (n + TILE - 1) / TILE;
    const int from = tiles * g / groups, to = tiles * (g + 1) / groups;
    for (int tile = from; tile < to; tile++) {
        const int base = tile * TILE, add = tile > from;
        GET_FILL
        for (int e = lid; e < TILE * $inputs; e += ITEMS) {
            const int s = e / $inputs, i = e % $inputs;
            $firstx0[s * $in + i] = base + s < n ? GET_X(of_x[s], base + s, i) : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
`, v)
	for i := range s.Layers {
		sums := ""
		if s.keepsSums(i) {
			sums = fmt.Sprintf("z%d, ", i)
		}
		earlier := "x"
		if s.keeps == keptInTurn {
			earlier = "a"
			if s.copied(i + 1) {
				sums = fmt.Sprintf("a%d, ", i+1) + sums
			}
		}
		sums += passedOn(earlier, skips(&s.Layers[i]))
		w.p("        forward$i(x$i, x$next, $sumsw, lid);\n        barrier(CLK_LOCAL_MEM_FENCE$global);", map[string]any{"i": i, "next": i + 1, "sums": sums, "global": s.fence()})
	}
	if s.Labels != nil {
		s.gpuLabels(w, v)
	} else {
		v["error"], v["down"] = call(s.error, 1, "z", "t"), call(s.slope, 1, "z", "t")
		w.p(`
        for (int e = lid; e < TILE * $outputs; e += ITEMS) {
            const int s = e / $outputs, o = e % $outputs;
            REAL d = 0;
            if (base + s < n) {
                const REAL z = x$last[s * $out + o], t = GET_T(base + s, o);
                loss += $error;
                d = $down;
            }
            x$last[s * $out + o] = d;
        }
`, v)
	}
	w.p("        barrier(CLK_LOCAL_MEM_FENCE);", nil)
	if place := s.place[last+1]; place >= 0 {
		v["place"], v["global"] = place, s.fence()
		w.p(`
        for (int e = lid; e < TILE * $outputs; e += ITEMS) {
            const int at = e / $outputs * $out + e % $outputs;
            g$place[at] = x$last[at];
        }
        barrier(CLK_LOCAL_MEM_FENCE$global);
`, v)
	}
	for i := last; i >= 0; i-- {
		sums := ""
		if i > 0 && s.keepsSums(i-1) {
			sums = fmt.Sprintf("z%d, ", i-1)
		}
		sums += passedOn("g", s.placesOf(i))
		names := map[string]any{"i": i, "next": i + 1, "sums": sums, "global": s.fence(), "all": s.block * s.row(i)}
		if s.keeps == keptInTurn && s.copied(i) {
			w.p(`
        for (int e = 4 * lid; e < $all; e += 4 * ITEMS) LOCAL4(x$i + e) = GLOBAL4(a$i + e);
        barrier(CLK_LOCAL_MEM_FENCE);
`, names)
		}
		w.p("        weights$i(x$i, x$next, part, add, lid);", names)
		if i > 0 || s.down {
			w.p("        barrier(CLK_LOCAL_MEM_FENCE);\n        backward$i(x$next, x$i, $sumsV + V_off, lid);\n        barrier(CLK_LOCAL_MEM_FENCE$global);", names)
		}
	}
	if s.down {
		w.p(`
        for (int e = lid; e < TILE * $inputs; e += ITEMS) {
            if (base + e / $inputs < n) DX[DX_off + base * $inputs + e] = x0[e / $inputs * $in + e % $inputs];
        }
`, v)
	}
	w.p(`
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    stage[lid] = loss;
    for (int span = ITEMS / 2; span > 0; span >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < span) stage[lid] += stage[lid + span];
    }
    if (lid == 0) LOSS[LOSS_off + g] = $share;
}
`, map[string]any{"share": s.lossShare("stage[0]")})
}
