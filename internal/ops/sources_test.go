package ops

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

var entryPoint = regexp.MustCompile(`(?s)kernel\s+(?:__attribute__\(\(.*?\)\)\)\s+)?void (k_[\w#]+)\((.*?)\)\s*\{`)

// TestParamsMatchSources holds Kernel.Params against the parameter lists of the entry points, and
// every entry point against the list of kernels.
func TestParamsMatchSources(t *testing.T) {
	byFile, texts := map[string]map[string]string{}, map[string]string{}
	paths, err := filepath.Glob("../../kernels/cl/*.cl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files: %v", len(paths), err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, text := filepath.Base(path), strings.ReplaceAll(string(source), "\\\n", "\n")
		byFile[file], texts[file] = map[string]string{}, text
		for _, m := range entryPoint.FindAllStringSubmatch(text, -1) {
			byFile[file][m[1]] = strings.Join(strings.Fields(m[2]), " ")
		}
	}
	used := map[string]bool{}
	pack, _, _ := swizzledTiles[BF16x3].Packings(1, 1, false) // which CPUs do not run, nor long sums of one form
	for _, k := range slices.Concat(All(kernels.Float32, kernels.Target{CPU: true}), []*kernels.Kernel{pack, Gemm(TN, longKTiles[BF16x3], nil)}, convsOnMatrixUnits(), []*kernels.Kernel{NarrowFloats, WidenFloats}) {
		for _, l := range []kernels.Target{{CPU: true}, {}} {
			file, before := k.Source(l), ""
			if k.Text != "" {
				before = k.TextOn(l)
				then := thenFile.FindStringSubmatch(before)
				if then == nil { // generated with its parameters
					continue
				}
				file = then[1] + ".cl"
			}
			name, params, ok := find(byFile[file], k.Name)
			if !ok {
				t.Errorf("%s has no entry point %s", file, k.Name)
				continue
			}
			used[file+" "+name] = true
			text := before + texts[file]
			for _, m := range dependsFiles.FindAllStringSubmatch(text, -1) {
				for _, name := range strings.Split(m[1], ", ") {
					text += texts[name+".cl"]
				}
			}
			params = expanded(params, text)
			for elem, name := range elemNames {
				if strings.HasSuffix(k.Defines, "-DELEM="+name) { // IN and OUT are of ELEM
					with := macroOf(elem)
					params = strings.NewReplacer("IN(", "IN"+with, "OUT(", "OUT"+with).Replace(params)
				}
			}
			params = strings.NewReplacer("IN_OF(INDEX, ", "IN"+macroOf(kernels.Int32), "OUT_OF(INDEX, ", "OUT"+macroOf(kernels.Int32)).Replace(params)
			element := kernels.Uint8 // of quantized.cl
			if strings.Contains(k.Defines, "-DBITS=16") {
				element = kernels.Uint16
			}
			params = strings.ReplaceAll(params, "IN_OF(ELEMENT, ", "IN"+macroOf(element))
			for _, p := range k.Params { // of a type that the kernel is built for
				with := "("
				if t := p.Mode.Elements(kernels.Float32); t != kernels.Float32 {
					with = macroOf(t)
				}
				params = strings.NewReplacer("IN_OF(X_MEMORY, "+p.Name+")", "IN"+with+p.Name+")",
					"IN_OF("+p.Name+"_MEMORY, "+p.Name+")", "IN"+with+p.Name+")", "OUT_OF(Y_MEMORY, "+p.Name+")", "OUT"+with+p.Name+")").Replace(params)
			}
			if strings.Contains(k.Defines, "-DINDEX=long") { // what they declare is that of the others but for INDEX
				continue
			}
			want := paramList(k)
			if strings.Contains(before, "internal/fused/epilogue.go") { // what is not kept is not written
				read := strings.NewReplacer("OUT(", "IN(", "OUT_OF(", "IN_OF(")
				params, want = read.Replace(params), read.Replace(want)
			}
			if params != want {
				t.Errorf("%s in %s has the parameters\n%s\nits spec says\n%s", k.Name, file, params, want)
			}
		}
	}
	for file, entries := range byFile {
		for name := range entries {
			if !used[file+" "+name] {
				t.Errorf("entry point %s of %s has no Kernel", name, file)
			}
		}
	}
}

// thenFile is the line of a generated text that names the file behind it; listMacro defines a part
// of the parameters. dependsFiles is the line that names those before it.
var (
	dependsFiles = regexp.MustCompile(`(?m)^// @depends: (.+)$`)

	thenFile  = regexp.MustCompile(`(?m)^// @then: (\w+)$`)
	listMacro = regexp.MustCompile(`(?m)^#define (\w+_(?:PARAMS|INPUTS))\b(.*?)(?://.*)?$`)
)

// expanded returns parameters with the macros of a text, of which the first definition counts.
func expanded(params, text string) string {
	done := map[string]bool{}
	for _, m := range listMacro.FindAllStringSubmatch(text, -1) {
		if !done[m[1]] {
			done[m[1]] = true
			params = strings.ReplaceAll(params, m[1], strings.TrimSpace(m[2]))
		}
	}
	return strings.ReplaceAll(strings.Join(strings.Fields(params), " "), " ,", ",")
}

// find looks an entry point up under its name, or under that of the macro line that makes it: the
// one, such as k_##name##_grad, that shares most with the name.
func find(entries map[string]string, name string) (key, params string, ok bool) {
	if params, ok := entries[name]; ok {
		return name, params, true
	}
	best := -1
	for k, p := range entries {
		parts := strings.Split(k+"##", "##") // before, parameter, after
		if len(parts) < 3 || !strings.HasPrefix(name, parts[0]) || !strings.HasSuffix(name, parts[2]) {
			continue
		}
		if shared := len(parts[0]) + len(parts[2]); shared > best {
			best, key, params = shared, k, p
		}
	}
	return key, params, best >= 0
}

// elemNames is what ELEM is in the forms of kernels for other elements than floats.
var elemNames = map[kernels.DType]string{kernels.Int32: "int", kernels.Uint8: "uchar", kernels.Uint16: "ushort", kernels.Int64: "long"}

// macroOf is how the macro of a parameter of a type goes on behind IN and OUT.
func macroOf(t kernels.DType) string {
	switch t {
	case kernels.Int32:
		return "_INTS("
	case kernels.Uint8:
		return "_BYTES("
	case kernels.Uint16, kernels.Float16, kernels.BFloat16:
		return "_OF(ushort, "
	case kernels.Int64:
		return "_OF(long, "
	case kernels.Float32:
		return "_OF(float, "
	}
	return "("
}

func paramList(k *kernels.Kernel) string {
	var list []string
	for _, p := range k.Params {
		switch name := macroOf(p.Mode.Elements(kernels.Float64)) + p.Name + ")"; {
		case p.Mode == kernels.LongParam:
			list = append(list, "long "+p.Name)
		case p.Mode == kernels.IntParam:
			list = append(list, "int "+p.Name)
		case p.Mode == kernels.FloatParam:
			list = append(list, "REAL "+p.Name)
		case p.Mode.Written():
			list = append(list, "OUT"+name)
		default:
			list = append(list, "IN"+name)
		}
	}
	return strings.Join(list, ", ")
}

// TestNoBuiltinNames: OpenCL builtins cannot be kernel names, so every kernel has the prefix.
func TestNoBuiltinNames(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range All(kernels.Float32, kernels.Target{CPU: true}) {
		form := fmt.Sprint(k.Name, k.Defines, k.Params)
		if !strings.HasPrefix(k.Name, "k_") || seen[form] && k.Text == "" {
			t.Errorf("%s: without the prefix k_, or twice", k.Name)
		}
		seen[form] = true
	}
}
