//go:build opencl && cgo

package clrt

import (
	_ "embed"
	"regexp"
	"strings"
)

// poclPlatform is the name of PoCL.
const poclPlatform = "Portable Computing Language"

// PoCL parses Clang's opencl-c.h, 18,000 lines, before each program that it builds, and once more
// before each that it finds in its cache. Measured with PoCL 3.1: 0.09 of the 0.11 s of CPU time
// that building a small program takes, and 0.02 s for one in the cache. Most programs need few of
// the functions. So they are built with declarations of these alone, in place of that header.
//
// A function that is declared has all of its types: if one were missing, a call would convert its
// operand to another. A program that needs a function without a declaration does not compile, and
// is built with the whole header.

//go:embed builtins.cl
var builtinMacros string

var macroPattern = regexp.MustCompile(`#define (\w+)`)

// builtins are declarations of functions. %s stands for a name.
var builtins = []struct{ declaration, names string }{
	{"uint CONST %s(void);", "get_work_dim"},
	{"size_t CONST %s(uint);", "get_global_size get_global_id get_local_size get_local_id get_num_groups get_group_id get_global_offset"},
	{"void CONVERGENT %s(cl_mem_fence_flags);", "barrier"},
	{"FLOATS(F1, %s)", "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc exp exp2 exp10 expm1 fabs floor " +
		"lgamma log log10 log1p log2 rint round rsqrt sign sin sinh sinpi sqrt tan tanh tanpi tgamma trunc"},
	{"FLOATS(F2, %s)", "atan2 copysign fdim fmod hypot nextafter pow powr remainder"},
	{"FLOATS(F2, %s) FLOAT_VECTORS(SCALAR2, %s)", "fmax fmin"},
	{"FLOATS(F3, %s)", "fma mad"},
	{"SCALES(%s, float) DOUBLE(SCALES(%s, double)) FLOAT_VECTORS(INT2, %s)", "ldexp"},
	{"RELATION(%s, float, int) DOUBLE(RELATION(%s, double, long))", "isfinite isinf isnan signbit"},
	{"SIGNED(TO_INT, %s)", "any all"},
	{"TYPES(SELECT, %s)", "select"},
	{"INTEGERS(TO_UNSIGNED, %s)", "abs"},
	{"INTEGERS(TO_UNSIGNED2, %s)", "abs_diff"},
	{"INTEGERS(F1, %s)", "clz popcount"},
	{"INTEGERS(F2, %s)", "mul_hi"},
	{"TYPES(F2, %s) INTEGER_VECTORS(SCALAR2, %s) FLOAT_VECTORS(SCALAR2, %s)", "max min"},
	{"TYPES(F3, %s) INTEGER_VECTORS(SCALAR3, %s) FLOAT_VECTORS(SCALAR3, %s)", "clamp"},
	{"SPACES(LOAD_HALF, , , ) LOAD_HALF(, , , constant)", "vload_half"},
	{"SPACES(LOAD_HALF, 2, , ) LOAD_HALF(2, , , constant)", "vload_half2"},
	{"SPACES(LOAD_HALF, 4, , ) LOAD_HALF(4, , , constant)", "vload_half4"},
	{"SPACES(LOAD_HALF, 16, , ) LOAD_HALF(16, , , constant)", "vload_half16"},
	{"SPACES(STORE_HALF, , float, ) DOUBLE(SPACES(STORE_HALF, , double, ))", "vstore_half_rte"},
	{"SPACES(STORE_HALF, 2, float2, ) DOUBLE(SPACES(STORE_HALF, 2, double2, ))", "vstore_half2_rte"},
	{"SPACES(STORE_HALF, 4, float4, ) DOUBLE(SPACES(STORE_HALF, 4, double4, ))", "vstore_half4_rte"},
	{"SPACES(STORE_HALF, 16, float16, ) DOUBLE(SPACES(STORE_HALF, 16, double16, ))", "vstore_half16_rte"},
	{"TYPES(PREFETCH, %s)", "prefetch"},
	{"CONVERSION(long, , _rte)", "convert_long_rte"},
	{"ATOMIC(ATOMIC1, %s)", "atomic_inc atomic_dec"},
	{"ATOMIC(ATOMIC2, %s)", "atomic_add atomic_sub atomic_min atomic_max atomic_and atomic_or atomic_xor"},
	{"ATOMIC(ATOMIC2, %s) ATOMIC2(%s, float, global) ATOMIC2(%s, float, local)", "atomic_xchg"},
	{"ATOMIC(ATOMIC3, %s)", "atomic_cmpxchg"},
	{"ATOMIC(ATOMIC2, %s) LONG_ATOMIC(ATOMIC2, %s)", "atom_add"},
	{"ATOMIC(ATOMIC3, %s) LONG_ATOMIC(ATOMIC3, %s)", "atom_cmpxchg"},
}

// widthBuiltins are declarations of functions whose names end with a width, for which %s stands.
var widthBuiltins = []struct{ declaration, name string }{
	{"ELEMENTS(LOAD, %s) CONSTANTS(%s)", "vload"},
	{"ELEMENTS(STORE, %s)", "vstore"},
}

var (
	convertible  = []string{"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double"}
	vectorWidths = []string{"2", "4", "8", "16"}
)

// undeclared matches the names of the other functions of OpenCL C 1.2. A build without them would
// print the compiler's count of errors before the program is built with the header.
var undeclared = regexp.MustCompile(`^(a(cos|sin|tan|tan2)pi|(add|sub|mad)_sat|r?hadd|async_\w+|wait_group_events|atom_(and|dec|inc|max|min|or|sub|xchg|xor)|bitselect|` +
	`convert_\w*_(sat|rt[nzp])\w*|cross|degrees|(fast_)?(distance|length|normalize)|dot|fract|frexp|half_\w+|ilogb|is(equal|notequal|greater|less|normal|ordered|unordered)\w*|` +
	`lgamma_r|logb|ma[dx](24|_hi|mag)|minmag|\w*mem_fence|mix|modf|mul24|nan|native_\w+|pown|printf|radians|remquo|rootn|rotate|` +
	`shuffle2?|sincos|(smooth)?step|upsample|vloada_half\w*|vstorea_half\w*|vload3|vstore3|v(load|store)_half(3|8)\w*|vstore_half\d*(_rt[nzp])?|\w*_?image\w*)$`)

// wordsOf returns the names in a text, and whether each stands before a parenthesis somewhere.
func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && inWord(text[i]) {
			i++
		}
		if start == i {
			i++
			continue
		}
		word := text[start:i]
		words[word] = words[word] || strings.HasPrefix(strings.TrimLeft(text[i:], " \t\r\n"), "(")
	}
	return words
}

func inWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// needsHeader reports whether a program calls a function that has no declaration here.
func needsHeader(words map[string]bool) bool {
	for word, called := range words {
		if called && undeclared.MatchString(word) {
			return true
		}
	}
	return false
}

// withBuiltins returns a program's text behind declarations of the built-in functions among its
// words, and the compiler's option that leaves opencl-c.h out.
func withBuiltins(text string, words map[string]bool) (declared, option string) {
	named := func(word string) bool { _, is := words[word]; return is }
	var b strings.Builder
	b.WriteString(builtinMacros)
	declare := func(declaration, with string) { b.WriteString(strings.ReplaceAll(declaration, "%s", with) + "\n") }
	for _, d := range builtins {
		for _, name := range strings.Fields(d.names) {
			if named(name) {
				declare(d.declaration, name)
			}
		}
	}
	// Macros make vload4 of vload##n, and convert_int4 of convert_##T or convert_int##n.
	for _, d := range widthBuiltins {
		for _, width := range vectorWidths {
			if named(d.name) || named(d.name+width) {
				declare(d.declaration, width)
			}
		}
	}
	for _, t := range convertible {
		for _, width := range append([]string{""}, vectorWidths...) {
			if named("convert_"+t+width) || named("convert_"+t) || named("convert_") && (named(t) || named(t+width)) {
				conversion := "CONVERSION(" + t + ", %s, )"
				if t == "double" {
					conversion = "DOUBLE(" + conversion + ")"
				}
				declare(conversion, width)
			}
		}
	}
	for _, m := range macroPattern.FindAllStringSubmatch(builtinMacros, -1) {
		b.WriteString("#undef " + m[1] + "\n")
	}
	b.WriteString("#pragma OPENCL EXTENSION all : disable\n#line 1\n")
	b.WriteString(text)
	return b.String(), " -D_OPENCL_H_"
}
