package kernels

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
)

func sourceRows(t *testing.T, file, macro string) []string {
	t.Helper()
	text, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^`+macro+`\((\w+),`).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// TestTablesMatchSources holds the rows of the Go tables against the lines of the .cl files.
func TestTablesMatchSources(t *testing.T) {
	var unary, binary, integerUnary, integerBinary []string
	for _, u := range Unaries {
		unary = append(unary, u.Name)
		if u.Int != nil {
			integerUnary = append(integerUnary, u.Name)
		}
	}
	for _, b := range Binaries {
		binary = append(binary, b.Name)
		if b.Int != nil {
			integerBinary = append(integerBinary, b.Name)
		}
	}
	slices.Sort(unary)
	slices.Sort(binary)
	slices.Sort(integerUnary)
	slices.Sort(integerBinary)
	if got := sourceRows(t, "integer.cl", "INTEGER_UNARY"); !slices.Equal(got, integerUnary) {
		t.Errorf("integer.cl has the lines\n%v\nUnaries has the rows\n%v", got, integerUnary)
	}
	if got := sourceRows(t, "integer.cl", "INTEGER_BINARY"); !slices.Equal(got, integerBinary) {
		t.Errorf("integer.cl has the lines\n%v\nBinaries has the rows\n%v", got, integerBinary)
	}
	if got := sourceRows(t, "unary.cl", "UNARY"); !slices.Equal(got, unary) {
		t.Errorf("unary.cl has the lines\n%v\nUnaries has the rows\n%v", got, unary)
	}
	if got := sourceRows(t, "binary.cl", "BINARY"); !slices.Equal(got, binary) {
		t.Errorf("binary.cl has the lines\n%v\nBinaries has the rows\n%v", got, binary)
	}
}

// TestUnaryGradients holds the gradient of every row against a central difference of its function.
func TestUnaryGradients(t *testing.T) {
	const h = 6e-6
	r := rand.New(rand.NewPCG(1, 1))
	for _, u := range Unaries {
		for range 200 {
			x := u.Domain[0] + (u.Domain[1]-u.Domain[0])*r.Float64()
			if slices.ContainsFunc(u.Kinks, func(k float64) bool { return math.Abs(x-k) < 10*h }) {
				continue
			}
			want := (u.Fwd(x+h, u.A, u.B) - u.Fwd(x-h, u.A, u.B)) / (2 * h)
			got := u.Bwd(x, u.Fwd(x, u.A, u.B), 1, u.A, u.B)
			if math.Abs(got-want) > 1e-7*max(1, math.Abs(want)) {
				t.Errorf("%s at %v: gradient %v, difference %v", u.Name, x, got, want)
				break
			}
		}
	}
}

// TestUnaryUses holds UsesX and UsesY against what the gradient reads.
func TestUnaryUses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, u := range Unaries {
		var readsX, readsY bool
		for range 100 {
			x, other := u.Domain[0]+(u.Domain[1]-u.Domain[0])*r.Float64(), u.Domain[0]+(u.Domain[1]-u.Domain[0])*r.Float64()
			y, otherY := u.Fwd(x, u.A, u.B), u.Fwd(other, u.A, u.B)
			g := u.Bwd(x, y, 1, u.A, u.B)
			readsX = readsX || u.Bwd(other, y, 1, u.A, u.B) != g
			readsY = readsY || u.Bwd(x, otherY, 1, u.A, u.B) != g
		}
		if readsX != u.UsesX || readsY != u.UsesY {
			t.Errorf("%s reads x %v, y %v; its row says %v, %v", u.Name, readsX, readsY, u.UsesX, u.UsesY)
		}
	}
}

func TestBinaryGradients(t *testing.T) {
	const h = 6e-6
	r := rand.New(rand.NewPCG(1, 3))
	for _, b := range Binaries {
		for range 200 {
			x, y := 0.5+2*r.Float64(), 0.5+2*r.Float64()
			if math.Abs(x-y) < 10*h {
				continue
			}
			dx := (b.Fwd(x+h, y) - b.Fwd(x-h, y)) / (2 * h)
			dy := (b.Fwd(x, y+h) - b.Fwd(x, y-h)) / (2 * h)
			if math.Abs(b.DX(x, y, 1)-dx) > 1e-7 || math.Abs(b.DY(x, y, 1)-dy) > 1e-7 {
				t.Errorf("%s at %v, %v: gradients %v %v, differences %v %v", b.Name, x, y, b.DX(x, y, 1), b.DY(x, y, 1), dx, dy)
				break
			}
			linear := b.DX(x, y, 1) == b.DX(x+1, y, 1) && b.DX(x, y, 1) == b.DX(x, y+1, 1) && b.DY(x, y, 1) == b.DY(x+1, y, 1)
			if b.Linear && !linear || b.PassX && b.DX(x, y, 3) != 3 || b.PassY && b.DY(x, y, 3) != 3 {
				t.Errorf("%s: Linear, PassX or PassY does not hold", b.Name)
				break
			}
		}
	}
}

// TestHotTwins holds the twins without a call per element to the bits of the rows they stand for.
func TestHotTwins(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Copysign(math.NaN(), -1), math.Inf(1), math.Inf(-1), 1, -1, 1e-40, -1e-40}
	t.Run("float32", func(t *testing.T) { testHotTwins[float32](t, special) })
	t.Run("float64", func(t *testing.T) { testHotTwins[float64](t, special) })
}

func testHotTwins[T Real](t *testing.T, special []float64) {
	const n = 10007
	r := rand.New(rand.NewPCG(1, 4))
	draw := func(n int) []T {
		s := make([]T, n)
		for i := range s {
			s[i] = T(r.NormFloat64())
			if i < len(special) {
				s[i] = T(special[i])
			}
		}
		return s
	}
	vec := func(s []T) Arg { return Vec(MemOf(s), 0, len(s)) }
	same := func(what string, got, want []T) {
		for i := range got {
			if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
				t.Fatalf("%s: element %d is %v, the row gives %v", what, i, got[i], want[i])
			}
		}
	}
	for _, u := range Unaries {
		if u.hot.F32 == nil {
			continue
		}
		x, y, g, got, want := draw(n), draw(n), draw(n), make([]T, n), make([]T, n)
		u.Forward().Run(DTypeOf[T](), []Arg{vec(x), vec(got), I(n), R(u.A), R(u.B)})
		unaryTwin[T](u)(Call[T]{[]Arg{vec(x), vec(want), I(n), R(u.A), R(u.B)}})
		same(u.Name, got, want)
		u.Gradient().Run(DTypeOf[T](), []Arg{vec(x), vec(y), vec(g), vec(got), I(n), R(u.A), R(u.B)})
		unaryGradTwin[T](u)(Call[T]{[]Arg{vec(x), vec(y), vec(g), vec(want), I(n), R(u.A), R(u.B)}})
		same(u.Name+" gradient", got, want)
	}
	for _, b := range Binaries {
		if b.hotRow.F32 == nil {
			continue
		}
		const cols = 13
		x, y, got, want := draw(n/cols*cols), draw(cols), make([]T, n/cols*cols), make([]T, n/cols*cols)
		b.Row().Run(DTypeOf[T](), []Arg{vec(x), vec(y), vec(got), I(n / cols), I(cols)})
		cycleTwin[T](b.Fwd)(Call[T]{[]Arg{vec(x), vec(y), vec(want), I(n / cols), I(cols)}})
		same(b.Name+" row", got, want)
	}
}

func TestULPDistance(t *testing.T) {
	for _, c := range []struct {
		t    DType
		a, b float64
		want int64
	}{
		{Float32, 1, 1, 0}, {Float32, 1, 1 + 0x3p-23, 3}, {Float32, -0x1p-149, 0x1p-148, 3},
		{Float32, 0, math.Copysign(0, -1), 0}, {Float64, 1, math.Nextafter(1, 2), 1},
		{Float64, -5e-324, 5e-324, 2}, {Float32, 1, math.NaN(), math.MaxInt64},
	} {
		if got := ULPDistance(c.t, c.a, c.b); got != c.want {
			t.Errorf("ULPDistance(%v, %v, %v) = %d, want %d", c.t, c.a, c.b, got, c.want)
		}
	}
}
