package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/internal/onnxpb"
)

// mergeTransposes makes one Transpose of two that follow each other, and an Identity of two that cancel.
//
//	Transpose(Transpose(x, [0 2 3 1]), [0 3 1 2])     becomes     Identity(x)
func mergeTransposes(r *rewriter) {
	for _, n := range slices.Clone(r.g.nodes) {
		before := r.makes[n.input(0)]
		if !n.is("Transpose") || !before.is("Transpose") || n.attributes["perm"] == nil || before.attributes["perm"] == nil {
			continue
		}
		first, second := before.attributes["perm"].Ints, n.attributes["perm"].Ints
		if len(first) != len(second) {
			continue
		}
		perm, still := make([]int64, len(first)), true
		for i, axis := range second {
			if axis < 0 || axis >= int64(len(first)) {
				return // the run says what is wrong
			}
			perm[i] = first[axis]
			still = still && perm[i] == int64(i)
		}
		merged := n.with([]string{before.input(0)}, n.proto.Outputs)
		merged.attributes["perm"] = &onnxpb.Attribute{Name: "perm", Type: onnxpb.AttrInts, Ints: perm}
		if identity, err := findOperator("", "Identity", n.version); still && err == nil {
			merged.proto.Op, merged.op, merged.attributes = "Identity", identity, nil
		}
		r.replace(n, merged)
	}
}
