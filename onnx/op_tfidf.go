package onnx

import (
	"math"
	"slices"
)

func init() {
	Register(Operator{Name: "TfIdfVectorizer", Since: 9,
		Attributes: "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s " +
			"pool_strings weights", Run: countGrams, Shape: countGramsShape})
}

// grams are the n-grams that a TfIdfVectorizer counts.
type grams struct {
	tokens map[any]uint32 // a string or an int of the pool as a number
	index  map[string]int // an n-gram, four bytes a token, to its place in the pool
	shortest, longest, skips,
	columns int
}

// countGrams counts the n-grams of a pool in rows of strings or integers, and weights the counts.
func countGrams(c *Call) []*Value {
	g := c.once(func() any { return newGrams(c) }).(*grams)
	shape := c.Shape(0)
	if len(shape) > 2 {
		c.Fail("input of shape %v, and should be of [C] or [N C]", shape)
	}
	rows, width := 1, 1
	switch len(shape) {
	case 2:
		rows, width = shape[0], shape[1]
	case 1:
		width = shape[0]
	}
	var tokens []any
	if v := c.Value(0); v.kind == stringsValue {
		for _, s := range v.strings {
			tokens = append(tokens, s)
		}
	} else {
		for _, n := range c.Ints(0) {
			tokens = append(tokens, n)
		}
	}
	if rows > math.MaxInt32/g.columns {
		c.Fail("%d rows of %d columns", rows, g.columns)
	}
	indexes, weights := c.IntList("ngram_indexes"), c.FloatList("weights")
	weighted := slices.Repeat([]float32{1}, g.columns)
	for i, w := range weights {
		weighted[indexes[i]] = float32(w)
	}
	mode := c.String("mode", "")
	out := make([]float32, rows*g.columns)
	for r := range rows {
		row := out[r*g.columns : (r+1)*g.columns]
		g.count(tokens[r*width:(r+1)*width], func(i int) { row[indexes[i]]++ })
		for k := range row {
			if mode == "IDF" {
				row[k] = min(row[k], 1)
			}
			if mode != "TF" {
				row[k] *= weighted[k]
			}
		}
	}
	if len(shape) == 2 {
		return Out(New(c, out, rows, g.columns))
	}
	return Out(New(c, out))
}

func newGrams(c *Call) *grams {
	g := &grams{tokens: map[any]uint32{}, index: map[string]int{}, shortest: c.Int("min_gram_length", 0),
		longest: c.Int("max_gram_length", 0), skips: c.Int("max_skip_count", 0)}
	indexes, starts, pool := c.IntList("ngram_indexes"), c.IntList("ngram_counts"), []any{}
	for _, s := range c.StringList("pool_strings") {
		pool = append(pool, s)
	}
	for _, n := range c.IntList("pool_int64s") {
		pool = append(pool, n)
	}
	switch mode := c.String("mode", ""); {
	case mode != "TF" && mode != "IDF" && mode != "TFIDF":
		c.Fail("mode is %q", mode)
	case g.shortest < 1 || g.longest < g.shortest || g.longest > len(starts) || g.skips < 0:
		c.Fail("n-grams of %d to %d of %d lengths, with %d skips", g.shortest, g.longest, len(starts), g.skips)
	case len(c.StringList("pool_strings")) > 0 && len(c.IntList("pool_int64s")) > 0:
		c.Fail("there are pool_strings and pool_int64s")
	case len(indexes) == 0 || slices.Min(indexes) < 0 || slices.Max(indexes) >= math.MaxInt32:
		c.Fail("ngram_indexes is empty, or has an index that is negative or too large")
	case len(c.FloatList("weights")) > len(indexes):
		c.Fail("there are %d weights of %d n-grams", len(c.FloatList("weights")), len(indexes))
	}
	g.columns = slices.Max(indexes) + 1
	i := 0 // of the n-gram
	for length, start := range starts {
		end := len(pool)
		if length+1 < len(starts) {
			end = starts[length+1]
		}
		if start < 0 || end < start || end > len(pool) || (end-start)%(length+1) != 0 {
			c.Fail("ngram_counts is %v, and the pool has %d", starts, len(pool))
		}
		for ; start < end; start += length + 1 {
			if i >= len(indexes) {
				c.Fail("the pool has more n-grams than ngram_indexes, which has %d", len(indexes))
			}
			var key []byte
			for _, t := range pool[start : start+length+1] {
				n, ok := g.tokens[t]
				if !ok {
					n = uint32(len(g.tokens))
					g.tokens[t] = n
				}
				key = append(key, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
			}
			if _, twice := g.index[string(key)]; !twice {
				g.index[string(key)] = i
			}
			i++
		}
	}
	return g
}

// count calls f for each n-gram of the pool that is in a row: of tokens that stand side by side, or of which up to
// skips are left out between any two.
func (g *grams) count(row []any, f func(i int)) {
	ids := make([]uint32, len(row))
	for i, t := range row {
		id, ok := g.tokens[t]
		if !ok {
			id = math.MaxUint32
		}
		ids[i] = id
	}
	var key []byte
	for step := 1; step <= min(g.skips, len(row))+1; step++ {
		for start := range ids {
			key = key[:0]
			for n, at := 1, start; n <= g.longest && at < len(ids) && ids[at] != math.MaxUint32; n, at = n+1, at+step {
				id := ids[at]
				key = append(key, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
				if n < g.shortest || n == 1 && step > 1 { // a single token skips nothing
					continue
				}
				if i, ok := g.index[string(key)]; ok {
					f(i)
				}
			}
		}
	}
}

func countGramsShape(c *ShapeCall) []Known {
	dims, columns := c.Dims(0), 0
	for _, i := range c.IntList("ngram_indexes") {
		columns = max(columns, i+1)
	}
	if len(dims) > 0 {
		dims[len(dims)-1] = NewDim(columns)
		return []Known{{Type: "float", Dims: dims}}
	}
	return []Known{{Type: "float"}}
}
