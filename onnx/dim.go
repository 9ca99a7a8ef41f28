package onnx

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Dim is what is known of an integer without a run, such as a dimension of a shape: a number, or an expression of the
// sizes that a file leaves open, which are at least 1. The zero Dim is not known.
//
// A Dim is a sum of products. Two that are the same sum are equal: see [Dim.Equal].
type Dim struct {
	terms []dimTerm // sorted by their keys, none with the factor 0
	known bool
}

// dimTerm is a product of a number and of atoms.
type dimTerm struct {
	factor int64
	atoms  []*dimAtom // sorted by their keys
	key    string
}

// dimAtom is what is not taken apart: a size that has a name, or a quotient, minimum or maximum of two Dims.
type dimAtom struct {
	name string // of a size, or ""
	op   string // "/", "min", "max", or ""
	x, y Dim
	key  string
}

// NewDim returns a number.
func NewDim(n int) Dim { return dimOf(int64(n)) }

func dimOf(n int64) Dim {
	if n == 0 {
		return Dim{known: true}
	}
	return Dim{known: true, terms: []dimTerm{{factor: n}}}
}

// SymbolicDim returns a size that a file leaves open, by its name.
func SymbolicDim(name string) Dim { return (&dimAtom{name: name, key: strconv.Quote(name)}).dim() }

func newAtom(op string, x, y Dim) Dim {
	key := op + "(" + x.key() + "," + y.key() + ")"
	if len(key) > mostKey {
		return Dim{}
	}
	return (&dimAtom{op: op, x: x, y: y, key: key}).dim()
}

func (a *dimAtom) dim() Dim {
	return Dim{known: true, terms: []dimTerm{{factor: 1, atoms: []*dimAtom{a}, key: a.key}}}
}

// key is the same for Dims that are equal, and for no others.
func (d Dim) key() string {
	var b strings.Builder
	for _, t := range d.terms {
		b.WriteString(strconv.FormatInt(t.factor, 10) + "*" + t.key + "+")
	}
	return b.String()
}

// Known reports whether anything is known.
func (d Dim) Known() bool { return d.known }

// Number returns d where it is a number, and whether it is one.
func (d Dim) Number() (int, bool) {
	n, ok := d.int64()
	if !ok || n > math.MaxInt || n < math.MinInt {
		return 0, false
	}
	return int(n), true
}

func (d Dim) int64() (int64, bool) {
	switch {
	case !d.known || len(d.terms) > 1:
		return 0, false
	case len(d.terms) == 0:
		return 0, true
	}
	return d.terms[0].factor, len(d.terms[0].atoms) == 0
}

func (d Dim) isNumber() bool {
	_, ok := d.int64()
	return ok
}

// Equal reports whether two Dims are known to be the same in every run.
func (d Dim) Equal(e Dim) bool {
	return d.known && e.known && d.key() == e.key()
}

// is reports whether d is a number.
func (d Dim) is(n int) bool {
	m, ok := d.Number()
	return ok && m == n
}

// A Dim that would have more terms, atoms in a product, or letters of its key is not known: what squares itself again and
// again has no end.
const (
	mostTerms = 32
	mostAtoms = 16
	mostKey   = 1 << 12
)

// sumOf returns a Dim of terms that need not be sorted. Numbers that overflow make it unknown.
func sumOf(terms []dimTerm) Dim {
	slices.SortStableFunc(terms, func(a, b dimTerm) int {
		return cmp.Or(len(b.atoms)-len(a.atoms), strings.Compare(a.key, b.key))
	})
	var sum []dimTerm
	for _, t := range terms {
		if n := len(sum); n > 0 && sum[n-1].key == t.key {
			f, ok := add64(sum[n-1].factor, t.factor)
			if !ok {
				return Dim{}
			}
			sum[n-1].factor = f
			continue
		}
		sum = append(sum, t)
	}
	sum = slices.DeleteFunc(sum, func(t dimTerm) bool { return t.factor == 0 })
	if len(sum) > mostTerms {
		return Dim{}
	}
	return Dim{known: true, terms: sum}
}

func add64(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func mul64(a, b int64) (int64, bool) {
	p := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	return p.Int64(), p.IsInt64()
}

// Add returns d + e.
func (d Dim) Add(e Dim) Dim {
	if !d.known || !e.known {
		return Dim{}
	}
	return sumOf(slices.Concat(d.terms, e.terms))
}

// Sub returns d − e.
func (d Dim) Sub(e Dim) Dim { return d.Add(e.Mul(NewDim(-1))) }

// Mul returns d·e.
func (d Dim) Mul(e Dim) Dim {
	if d.is(0) || e.is(0) {
		return NewDim(0) // whatever the other is
	}
	if !d.known || !e.known || len(d.terms)*len(e.terms) > mostTerms*mostTerms {
		return Dim{}
	}
	var terms []dimTerm
	for _, a := range d.terms {
		for _, b := range e.terms {
			f, ok := mul64(a.factor, b.factor)
			if !ok || len(a.atoms)+len(b.atoms) > mostAtoms || len(a.key)+len(b.key) > mostKey {
				return Dim{}
			}
			t := dimTerm{factor: f, atoms: slices.Concat(a.atoms, b.atoms)}
			slices.SortFunc(t.atoms, func(a, b *dimAtom) int { return strings.Compare(a.key, b.key) })
			t.key = keyOf(t.atoms)
			terms = append(terms, t)
		}
	}
	return sumOf(terms)
}

func keyOf(atoms []*dimAtom) string {
	keys := make([]string, len(atoms))
	for i, a := range atoms {
		keys[i] = a.key
	}
	return strings.Join(keys, "*")
}

// exactly returns d/e where nothing is left of it whatever the sizes are, and whether that is so: e is one product.
func (d Dim) exactly(e Dim) (Dim, bool) {
	if !d.known || len(e.terms) != 1 {
		return Dim{}, false
	}
	by := e.terms[0]
	var terms []dimTerm
	for _, t := range d.terms {
		if t.factor%by.factor != 0 {
			return Dim{}, false
		}
		atoms := slices.Clone(t.atoms)
		for _, a := range by.atoms {
			i := slices.IndexFunc(atoms, func(b *dimAtom) bool { return a.key == b.key })
			if i < 0 {
				return Dim{}, false
			}
			atoms = slices.Delete(atoms, i, i+1)
		}
		terms = append(terms, dimTerm{factor: t.factor / by.factor, atoms: atoms, key: keyOf(atoms)})
	}
	return sumOf(terms), true
}

// Div returns d/e rounded down, of e above 0.
func (d Dim) Div(e Dim) Dim {
	if q, ok := d.exactly(e); ok && e.atLeast(1) {
		return q
	}
	if !d.known || !e.atLeast(1) {
		return Dim{}
	}
	by, ok := e.int64()
	if !ok {
		return newAtom("/", d, e)
	}
	if x, m, ok := d.quotient(); ok { // (x/m + rest)/by is (x + m·rest)/(m·by)
		return x.Div(m.Mul(e))
	}
	// What is a multiple goes before the quotient, of the number all but what is from 0 to by.
	var whole, rest []dimTerm
	for _, t := range d.terms {
		q, r := t.factor/by, t.factor%by
		if r < 0 {
			q, r = q-1, r+by
		}
		if len(t.atoms) > 0 && r != 0 { // as it is: 3n/2 is no n + n/2
			q, r = 0, t.factor
		}
		whole = append(whole, dimTerm{factor: q, atoms: t.atoms, key: t.key})
		rest = append(rest, dimTerm{factor: r, atoms: t.atoms, key: t.key})
	}
	quotient := sumOf(rest)
	if n, ok := quotient.int64(); ok { // from 0 to by
		quotient = dimOf(n / by)
	} else {
		quotient = newAtom("/", quotient, e)
	}
	return sumOf(whole).Add(quotient)
}

// quotient returns x and m, if d is x/m rounded down, m a number above 1: one term of d is such a quotient.
func (d Dim) quotient() (x, m Dim, ok bool) {
	for i, t := range d.terms {
		if t.factor != 1 || len(t.atoms) != 1 || t.atoms[0].op != "/" || !t.atoms[0].y.isNumber() {
			continue
		}
		rest := Dim{known: true, terms: slices.Delete(slices.Clone(d.terms), i, i+1)}
		a := t.atoms[0]
		return a.x.Add(rest.Mul(a.y)), a.y, true
	}
	return Dim{}, Dim{}, false
}

// ceilDiv returns d/e rounded up.
func (d Dim) ceilDiv(e Dim) Dim { return d.Add(e).Sub(NewDim(1)).Div(e) }

// least returns a number that d is not below, and whether there is one.
func (d Dim) least() (int64, bool) {
	if !d.known {
		return 0, false
	}
	sum := int64(0)
	for _, t := range d.terms {
		low := int64(1)
		for _, a := range t.atoms {
			n, ok := a.least()
			if !ok || n < 0 || t.factor < 0 {
				return 0, false
			}
			if low, ok = mul64(low, n); !ok {
				return 0, false
			}
		}
		low, ok := mul64(low, t.factor)
		if !ok {
			return 0, false
		}
		if sum, ok = add64(sum, low); !ok && low != 0 {
			return 0, false
		}
	}
	return sum, true
}

func (a *dimAtom) least() (int64, bool) {
	x, okX := a.x.least()
	y, okY := a.y.least()
	switch a.op {
	case "/":
		n, ok := a.y.int64()
		switch {
		case okX && ok && n > 0:
			return x / n, x >= 0
		case okX && x >= 0:
			return 0, true
		}
		return 0, false
	case "min":
		return min(x, y), okX && okY
	case "max":
		switch {
		case okX && okY:
			return max(x, y), true
		case okX:
			return x, true
		}
		return y, okY
	}
	return 1, true
}

// atLeast reports whether d is known to be at least n.
func (d Dim) atLeast(n int64) bool {
	low, ok := d.least()
	return ok && low >= n
}

// Min returns the lesser of d and e.
func (d Dim) Min(e Dim) Dim {
	switch {
	case e.Sub(d).atLeast(0):
		return d
	case d.Sub(e).atLeast(0):
		return e
	}
	return d.extreme("min", e)
}

// Max returns the greater of d and e.
func (d Dim) Max(e Dim) Dim {
	switch {
	case e.Sub(d).atLeast(0):
		return e
	case d.Sub(e).atLeast(0):
		return d
	}
	return d.extreme("max", e)
}

func (d Dim) extreme(op string, e Dim) Dim {
	if !d.known || !e.known {
		return Dim{}
	}
	if d.isNumber() || d.key() > e.key() && !e.isNumber() { // numbers are last
		d, e = e, d
	}
	return newAtom(op, d, e)
}

// With returns d with numbers in the place of names: all of them make a number.
func (d Dim) With(sizes map[string]int) Dim { return d.with(dimsByName(sizes)) }

func dimsByName(sizes map[string]int) map[string]Dim {
	dims := make(map[string]Dim, len(sizes))
	for name, n := range sizes {
		dims[name] = NewDim(n)
	}
	return dims
}

func (d Dim) with(sizes map[string]Dim) Dim {
	if !d.known {
		return d
	}
	sum := NewDim(0)
	for _, t := range d.terms {
		p := dimOf(t.factor)
		for _, a := range t.atoms {
			p = p.Mul(a.with(sizes))
		}
		sum = sum.Add(p)
	}
	return sum
}

func (a *dimAtom) with(sizes map[string]Dim) Dim {
	x, y := a.x.with(sizes), a.y.with(sizes)
	switch a.op {
	case "/":
		return x.Div(y)
	case "min":
		return x.Min(y)
	case "max":
		return x.Max(y)
	}
	if n, ok := sizes[a.name]; ok {
		return n
	}
	return a.dim()
}

// String returns a number, "sequence*2" or "(sequence+1)/2", where / rounds down, and "?" if nothing is known.
func (d Dim) String() string {
	if !d.known {
		return "?"
	}
	if len(d.terms) == 0 {
		return "0"
	}
	var b strings.Builder
	for i, t := range d.terms {
		factor := t.factor
		switch {
		case factor < 0 && factor > math.MinInt64:
			b.WriteByte('-')
			factor = -factor
		case i > 0:
			b.WriteByte('+')
		}
		for k, a := range t.atoms {
			if k > 0 {
				b.WriteByte('*')
			}
			text := a.String()
			if a.op == "/" && (len(t.atoms) > 1 || factor != 1) {
				text = "(" + text + ")"
			}
			b.WriteString(text)
		}
		switch {
		case len(t.atoms) == 0:
			b.WriteString(strconv.FormatInt(factor, 10))
		case factor != 1:
			b.WriteString("*" + strconv.FormatInt(factor, 10))
		}
	}
	return b.String()
}

func (a *dimAtom) String() string {
	group := func(d Dim) string {
		single := len(d.terms) == 0 ||
			len(d.terms) == 1 && (len(d.terms[0].atoms) == 0 || len(d.terms[0].atoms) == 1 && d.terms[0].factor == 1)
		if single {
			return d.String()
		}
		return "(" + d.String() + ")"
	}
	switch a.op {
	case "/":
		return group(a.x) + "/" + group(a.y)
	case "min", "max":
		return a.op + "(" + a.x.String() + ", " + a.y.String() + ")"
	}
	return a.name
}
