package fusedmlp

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.cl
var sources embed.FS

// The OpenCL C of the kernels that are not generated.
var (
	sourceCPU, sourceGPU                   = source("mlp_cpu"), source("mlp_gpu")
	sourcePack, sourceMatrix, sourceGroups = source("mlp_pack"), source("mlp_mma"), source("mlp_groups")
)

// sourceGet is what generated kernels read their inputs with.
//
//go:embed prologue.cl
var sourceGet string

// source returns the text of a file of this package with those that it depends on before it, each
// once. Files of package kernels are named in its first line.
func source(name string) string {
	var files, texts []string
	done := map[string]bool{}
	target := ""
	var add func(name string)
	add = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		text, err := sources.ReadFile(name + ".cl")
		if err != nil {
			if !slices.Contains(files, name) {
				files = append(files, name)
			}
			return
		}
		for line := range strings.Lines(string(text)) {
			if list, ok := strings.CutPrefix(line, "// @depends:"); ok {
				for dependency := range strings.SplitSeq(list, ",") {
					add(strings.TrimSpace(dependency))
				}
			} else if strings.HasPrefix(line, "// @target:") {
				target = line
			} else {
				break
			}
		}
		texts = append(texts, "#line 1 \""+name+".cl\"\n"+string(text))
	}
	add(name)
	return "// @depends: " + strings.Join(files, ", ") + "\n" + target + strings.Join(texts, "\n")
}
