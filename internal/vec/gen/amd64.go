package main

import (
	"go/format"
	"log"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"

	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

// files returns the generated files by name.
func files() map[string][]byte {
	all := map[string][]byte{}
	for _, s := range []*set{avx2, avx512} {
		for _, part := range []struct {
			name   string
			write  func(*build.Context, *set, float)
			narrow bool // wider vectors would not be faster
		}{{"product", products, false}, {"tall", tallBlocks, true}, {"transpose", transposers, true}, {"map", maps, false}, {"row", reduce, false},
			{"update", updates, false}, {"rotate", rotations, false}, {"butterfly", butterflies, false}, {"corner", corners, true}, {"copy", copies, true}, {"pool", pools, true},
			{"widen", wideSums, true}, {"ints", joinInts, true}, {"bytes", byteLoops, true}, {"halves", halfLoops, false}, {"fill", fills, true}, {"reverse", reverses, true},
			{"byteproduct", byteProducts, false}, {"weights", weightLoops, false}} {
			c := build.NewContext()
			if part.narrow && s != avx2 {
				continue
			}
			for _, r := range []float{single, double} {
				part.write(c, s, r)
			}
			name := part.name + "_" + s.file
			emit(c, all, name, s)
			if part.name == "byteproduct" && s == avx2 {
				all[name+"_amd64.s"] = withoutAVX512(all[name+"_amd64.s"])
			}
			if part.name == "map" {
				all[name+"_amd64.s"] = local(all[name+"_amd64.s"])
				stubs := generated + "\npackage vec\n"
				for _, r := range []float{single, double} {
					assembly, stub := entry(s, r)
					all[name+"_amd64.s"] = append(all[name+"_amd64.s"], assembly...)
					stubs += stub
				}
				all[name+"_amd64.go"] = []byte(stubs)
			}
		}
	}
	for name, text := range map[string][]byte{"functions.go": tables(), "rows_amd64.go": tablesOn([]*set{avx2, avx512}),
		"rows_arm64.go": tablesOn([]*set{neonSet})} {
		formatted, err := format.Source(text)
		if err != nil {
			log.Fatal(err)
		}
		all[name] = formatted
	}
	all["product_neon_arm64.s"], all["product_neon_arm64.go"] = neon()
	all["map_neon_arm64.s"], all["map_neon_arm64.go"] = neonMaps()
	all["row_neon_arm64.s"], all["row_neon_arm64.go"] = neonRows()
	all["move_neon_arm64.s"], all["move_neon_arm64.go"] = neonMoves()
	all["tall_neon_arm64.s"], all["tall_neon_arm64.go"] = neonTall()
	all["corner_neon_arm64.s"], all["corner_neon_arm64.go"] = neonCorners()
	all["byteproduct_neon_arm64.s"], all["byteproduct_neon_arm64.go"] = neonBytes()
	all["weights_neon_arm64.s"], all["weights_neon_arm64.go"] = neonWeights()
	for name, text := range all {
		if strings.HasSuffix(name, ".go") {
			all[name] = wrapComments(text)
		}
	}
	return all
}

// wrapComments wraps the paragraphs of comments that have a line of more than 100 columns. A
// directive, such as go:build, is none.
func wrapComments(text []byte) []byte {
	const most = 100
	var out, paragraph []string
	end := func() {
		if slices.ContainsFunc(paragraph, func(line string) bool { return utf8.RuneCountInString(line) > most }) {
			words := strings.Fields(strings.ReplaceAll(strings.Join(paragraph, "\n"), "\n// ", " "))
			paragraph = []string{words[0]}
			for _, word := range words[1:] {
				last := &paragraph[len(paragraph)-1]
				if utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) > most {
					paragraph = append(paragraph, "// "+word)
					continue
				}
				*last += " " + word
			}
		}
		out, paragraph = append(out, paragraph...), nil
	}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "// ") {
			paragraph = append(paragraph, line)
			continue
		}
		end()
		out = append(out, line)
	}
	end()
	return []byte(strings.Join(out, "\n"))
}

// emit prints what a context holds as assembly and as declarations.
func emit(c *build.Context, all map[string][]byte, name string, s *set) {
	f, err := compiled(c)
	if err != nil {
		log.Fatal(err)
	}
	// Nothing that a compiler could ask a processor for says which instructions there are: the
	// build tags do.
	f.Constraints = nil
	cfg := printer.Config{Name: "go run . in internal/vec/gen", Pkg: "vec"} // as generated says
	for suffix, p := range map[string]printer.Printer{"_amd64.s": printer.NewGoAsm(cfg), "_amd64.go": printer.NewStubs(cfg)} {
		text, err := p.Print(f)
		if err != nil {
			log.Fatal(err)
		}
		all[name+suffix] = text
	}
}

// float is a type of numbers: float32 or float64.
type float struct {
	name string // in the names of functions
	size int    // bytes
}

func (r float) goType() string {
	if r == single {
		return "float32"
	}
	return "float64"
}

var (
	single = float{"F32", 4}
	double = float{"F64", 8}
)

// set is what instructions of one width have: how wide they are, and how many rows of a product fit
// in the registers.
type set struct {
	name, file string
	bytes      int
	heights    []int // of blocks of a product, the tallest first
	broadcast  bool  // operands in memory may be one element for all lanes
	vector     func(c *build.Context) reg.VecVirtual
	clear      func(c *build.Context, v reg.VecVirtual)
}

var (
	avx2 = &set{"AVX2", "avx2", 32, []int{6, 4, 2, 1}, false,
		func(c *build.Context) reg.VecVirtual { return c.YMM() }, func(c *build.Context, v reg.VecVirtual) { c.VXORPS(v, v, v) }}
	avx512 = &set{"AVX512", "avx512", 64, []int{12, 8, 4, 2, 1}, true,
		func(c *build.Context) reg.VecVirtual { return c.ZMM() }, func(c *build.Context, v reg.VecVirtual) { c.VPXORD(v, v, v) }}
)

// half is the set with vectors of half the width.
func (s *set) half() *set {
	h := *s
	h.bytes /= 2
	h.vector = func(c *build.Context) reg.VecVirtual {
		if h.bytes == 16 {
			return c.XMM()
		}
		return c.YMM()
	}
	return &h
}

// instructions are those of a type of floats.
type instructions struct {
	load, broadcast, fma, fmaFromOne, add func(ops ...operand.Op) // fmaFromOne takes one element of memory for all lanes
}

func (r float) on(c *build.Context, s *set) instructions {
	if r == single {
		return instructions{c.VMOVUPS, c.VBROADCASTSS, c.VFMADD231PS, c.VFMADD231PS_BCST, c.VADDPS}
	}
	if s.bytes == 16 {
		return instructions{c.VMOVUPD, c.VMOVDDUP, c.VFMADD231PD, c.VFMADD231PD_BCST, c.VADDPD}
	}
	return instructions{c.VMOVUPD, c.VBROADCASTSD, c.VFMADD231PD, c.VFMADD231PD_BCST, c.VADDPD}
}
