package onnx

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// with returns attributes, and others in their place.
func (a attrs) with(more attrs) attrs {
	all := attrs{}
	for _, from := range []attrs{a, more} {
		for name, v := range from {
			if v != nil {
				all[name] = v
			} else {
				delete(all, name)
			}
		}
	}
	return all
}

// stump asks whether x ≤ 0: node 1 is the leaf of yes.
var stump = attrs{"nodes_treeids": []int{0, 0, 0}, "nodes_nodeids": []int{0, 1, 2},
	"nodes_featureids": []int{0, 0, 0}, "nodes_modes": []string{"BRANCH_LEQ", "LEAF", "LEAF"},
	"nodes_values": []float64{0, 0, 0}, "nodes_truenodeids": []int{1, 0, 0}, "nodes_falsenodeids": []int{2, 0, 0}}

// twoTrees are of depth 2, with every question.
var twoTrees = attrs{"nodes_treeids": []int{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1},
	"nodes_nodeids": []int{0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6}, "nodes_featureids": []int{2, 0, 2, 0, 0, 0, 0, 1,
		2, 0, 0, 0, 0, 0}, "nodes_modes": []string{"BRANCH_LEQ", "BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF", "LEAF",
		"BRANCH_LEQ", "BRANCH_GTE", "BRANCH_LT", "LEAF", "LEAF", "LEAF", "LEAF"}, "nodes_values": []float64{-.5, .5, .5, 0,
		0, 0, 0, -1.5, -1, -.5, 0, 0, 0, 0}, "nodes_truenodeids": []int{1, 3, 5, 0, 0, 0, 0, 1, 3, 5, 0, 0, 0, 0},
	"nodes_falsenodeids": []int{2, 4, 6, 0, 0, 0, 0, 2, 4, 6, 0, 0, 0, 0}, "nodes_missing_value_tracks_true": []int{0, 1,
		1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1}}

func TestTreeEnsembleClassifier(t *testing.T) {
	d := cpu(t)
	x := tensor.New(d, []float32{-1, 1}, 2, 1)
	votes := func(ids []int, weights []float64, labels []int, more attrs) attrs {
		trees, nodes := make([]int, len(ids)), []int{1, 2}
		if len(ids) == 4 {
			nodes = []int{1, 1, 2, 2}
		}
		return stump.with(attrs{"class_treeids": trees, "class_nodeids": nodes, "class_ids": ids, "class_weights": weights,
			"classlabels_int64s": labels}).with(more)
	}
	two, positive, signed := []int{5, 7}, []float64{.2, .7}, []float64{-.2, .7}
	both, fives := float64sOf([]int{2}, 5, 7), func(x ...float64) listed { return float64sOf([]int{2, 2}, x...) }
	for _, c := range []mlCase{
		// Leaves speak of one class: a probability, or not.
		{attrs: votes([]int{0, 0}, positive, two, nil), want: []listed{both, fives(.8, .2, .3, .7)}},
		{attrs: votes([]int{0, 0}, positive, two, attrs{"post_transform": "LOGISTIC"}),
			want: []listed{both, fives(.45016605, .54983395, .33181226, .66818774)}},
		{attrs: votes([]int{0, 0}, positive, two, attrs{"base_values": []float64{.1}}),
			want: []listed{both, fives(.7, .3, .2, .8)}},
		{attrs: votes([]int{0, 0}, signed, two, nil), want: []listed{both, fives(.2, -.2, -.7, .7)}},
		{attrs: votes([]int{0, 0}, signed, two, attrs{"post_transform": "LOGISTIC"}),
			want: []listed{both, fives(.54983395, .45016605, .33181226, .66818774)}},
		{attrs: votes([]int{1, 1}, positive, two, nil), want: []listed{both, fives(0, .2, 0, .7)}},
		{attrs: votes([]int{1, 1}, positive, two, attrs{"post_transform": "SOFTMAX"}),
			want: []listed{both, fives(.450166, .54983395, .3318122, .66818774)}},
		// They speak of both: the label is that of the larger score.
		{attrs: votes([]int{0, 1, 0, 1}, []float64{.8, .2, .3, .7}, two, nil), want: []listed{both, fives(.8, .2, .3, .7)}},
		{attrs: votes([]int{0, 1, 0, 1}, []float64{.2, .8, .7, .3}, two, attrs{"post_transform": "SOFTMAX"}),
			want: []listed{float64sOf([]int{2}, 7, 5), fives(.35434368, .6456563, .59868765, .40131232)}},
		{attrs: votes([]int{0, 1, 0, 2}, []float64{.2, .8, 0, .3}, []int{5, 7, 9}, nil),
			want: []listed{float64sOf([]int{2}, 7, 9), float64sOf([]int{2, 3}, .2, .8, 0, 0, 0, .3)}},
		{attrs: votes([]int{0, 1, 0, 2}, []float64{.2, .8, 0, .3}, []int{5, 7, 9},
			attrs{"base_values": []float64{.1, .2, .3}}), want: []listed{float64sOf([]int{2}, 7, 9),
			float64sOf([]int{2, 3}, .3, 1, .3, .1, .2, .6)}},
		// One label, and none.
		{attrs: votes([]int{0, 0}, signed, []int{1}, nil), want: []listed{float64sOf([]int{2}, 0, 1),
			float64sOf([]int{2, 1}, -.2, .7)}},
		{version: 3, attrs: votes([]int{0, 0}, nil, two,
			attrs{"class_weights": nil, "class_weights_as_tensor": doubles(onnxpb.Double, .2, .7), "nodes_values": nil,
				"nodes_values_as_tensor": doubles(onnxpb.Double, 0, 0, 0)}), want: []listed{both, fives(.8, .2, .3, .7)}},
		{attrs: votes([]int{0, 2}, positive, two, nil)},
		{attrs: votes([]int{0, 0}, positive, two, attrs{"base_values": []float64{1, 2, 3}})},
		{attrs: votes([]int{0, 0}, positive, nil, nil).with(attrs{"classlabels_int64s": nil})},
		{attrs: votes([]int{0, 0}, positive, two, attrs{"nodes_truenodeids": []int{0, 0, 0}})}, // a cycle
		{attrs: votes([]int{0, 0}, positive, two, attrs{"nodes_truenodeids": []int{9, 0, 0}})},
		{attrs: votes([]int{0, 0}, positive, two, attrs{"nodes_featureids": []int{1, 0, 0}})},
		{attrs: votes([]int{0, 0}, positive, two, attrs{"nodes_nodeids": []int{0, 1, 1}})},
		{attrs: votes([]int{0, 0}, positive, two, attrs{"nodes_modes": []string{"BRANCH", "LEAF", "LEAF"}})},
		{attrs: votes([]int{0, 0}, positive, two, attrs{"nodes_values": []float64{0}})},
		{attrs: votes([]int{0, 0}, []float64{1}, two, nil)},
	} {
		c.op, c.in = "TreeEnsembleClassifier", x
		c.run(t, d)
	}
	nan := float32(nan)
	rows := tensor.New(d, []float32{2, 1.5, 2, -1.5, -2, .5, 0, -1.5, .5, 0, 1.5, 1, nan, -2, -1, 0, nan, 2}, 6, 3)
	leaves := attrs{"class_treeids": []int{0, 0, 0, 0, 1, 1, 1, 1}, "class_nodeids": []int{3, 4, 5, 6, 3, 4, 5, 6},
		"class_ids": []int{0, 0, 0, 0, 2, 2, 0, 1}, "class_weights": []float64{-.25, -.75, 1.5, -1.75, -1.75, .5, .75, -1},
		"classlabels_strings": []string{"a", "b", "c"}, "post_transform": "SOFTMAX"}
	// The top class is that of the largest score, be it of a class that no leaf speaks of.
	mlCase{op: "TreeEnsembleClassifier", attrs: twoTrees.with(leaves), in: rows,
		want: []listed{{shape: []int{6}, strings: []string{"a", "b", "b", "a", "b", "a"}},
			float64sOf([]int{6, 3}, .7661572, .06289002, .1709528, .12895566, .7420886, .12895566, .12895566, .7420886,
				.12895566, .7661572, .06289002, .1709528, .39885837, .51214427, .08899733, .7661572, .06289002,
				.1709528)}}.run(t, d)
	leaves = attrs{"target_treeids": leaves["class_treeids"], "target_nodeids": leaves["class_nodeids"],
		"target_ids": make([]int, 8), "target_weights": leaves["class_weights"], "base_values": []float64{.5}, "n_targets": 1}
	mlCase{op: "TreeEnsembleRegressor", attrs: twoTrees.with(leaves), in: rows,
		want: []listed{float64sOf([]int{6, 1}, 1, -3, -3, 1, -1.5, 1)}}.run(t, d)
}

func TestTreeEnsembleRegressor(t *testing.T) {
	d := cpu(t)
	two := attrs{"nodes_treeids": []int{0, 0, 0, 1, 1, 1}, "nodes_nodeids": []int{0, 1, 2, 0, 1, 2},
		"nodes_featureids": []int{0, 0, 0, 0, 0, 0}, "nodes_modes": []string{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ",
			"LEAF", "LEAF"}, "nodes_values": []float64{0, 0, 0, -2, 0, 0}, "nodes_truenodeids": []int{1, 0, 0, 1, 0, 0},
		"nodes_falsenodeids": []int{2, 0, 0, 2, 0, 0}, "target_treeids": []int{0, 0, 0, 1, 1},
		"target_nodeids": []int{1, 1, 2, 1, 2}, "target_ids": []int{0, 1, 1, 0, 1},
		"target_weights": []float64{1, 2, 3, 4, -5}, "n_targets": 2}
	for _, c := range []mlCase{
		{attrs: two, want: []listed{float64sOf([]int{2, 2}, 1, -3, 0, -2)}},
		{attrs: two.with(attrs{"aggregate_function": "AVERAGE"}), want: []listed{float64sOf([]int{2, 2}, .5, -1.5, 0, -1)}},
		{attrs: two.with(attrs{"aggregate_function": "MIN"}), want: []listed{float64sOf([]int{2, 2}, 1, -5, 0, -5)}},
		{attrs: two.with(attrs{"aggregate_function": "MAX"}), want: []listed{float64sOf([]int{2, 2}, 1, 2, 0, 3)}},
		// Base values are added whether a leaf speaks of a target or not.
		{attrs: two.with(attrs{"aggregate_function": "MAX", "base_values": []float64{.5, .25}}),
			want: []listed{float64sOf([]int{2, 2}, 1.5, 2.25, .5, 3.25)}},
		{attrs: two.with(attrs{"post_transform": "SOFTMAX"}),
			want: []listed{float64sOf([]int{2, 2}, .98201376, .01798621, .880797, .11920292)}},
		{attrs: two.with(attrs{"post_transform": "SOFTMAX_ZERO"}),
			want: []listed{float64sOf([]int{2, 2}, .98201376, .01798621, 0, 1)}},
		{attrs: two.with(attrs{"post_transform": "LOGISTIC"}),
			want: []listed{float64sOf([]int{2, 2}, .7310586, .04742587, .5, .11920297)}},
		{attrs: two.with(attrs{"aggregate_function": "MEDIAN"})},
		{attrs: two.with(attrs{"n_targets": 1})},
		{attrs: two.with(attrs{"n_targets": math.MaxInt})},
		{attrs: two.with(attrs{"n_targets": -1})},
	} {
		c.op, c.in = "TreeEnsembleRegressor", tensor.New(d, []float32{-1, 1}, 2, 1)
		c.run(t, d)
		c.in = tensor.New(d, []int64{-1, 1}, 2, 1)
		c.run(t, d)
	}
}

// TestTreeEnsemble: sets, missing values, several roots and aggregates.
func TestTreeEnsemble(t *testing.T) {
	d := cpu(t)
	// Target 0 of {1.5, 3.5, 8, 9}, 1 of {12, 7}, and else 2.
	sets := attrs{"tree_roots": []int{0}, "nodes_modes": doubles(onnxpb.Uint8, 6, 6), "nodes_featureids": []int{0, 0},
		"nodes_splits": doubles(onnxpb.Float, 0, 0), "membership_values": doubles(onnxpb.Float, 1.5, 3.5, 8, 9, nan, 12, 7,
			nan), "nodes_trueleafs": []int{1, 1}, "nodes_truenodeids": []int{0, 1}, "nodes_falseleafs": []int{0, 1},
		"nodes_falsenodeids": []int{1, 2}, "leaf_targetids": []int{0, 1, 2}, "leaf_weights": doubles(onnxpb.Float, 1, 10,
			100), "n_targets": 3}
	tree := attrs{"tree_roots": []int{0, 1}, "nodes_modes": doubles(onnxpb.Uint8, 5, 3), "nodes_featureids": []int{0, 0},
		"nodes_splits": doubles(onnxpb.Double, 1, 2), "nodes_trueleafs": []int{1, 1}, "nodes_truenodeids": []int{0, 1},
		"nodes_falseleafs": []int{1, 1}, "nodes_falsenodeids": []int{1, 0}, "leaf_targetids": []int{0, 0},
		"leaf_weights": doubles(onnxpb.Double, -1, 4), "n_targets": 1}
	rows := tensor.New(d, []float64{1, 3, nan}, 3, 1)
	for _, c := range []mlCase{
		{attrs: sets, in: tensor.New(d, []float32{3.5, 12, 7, .5, float32(nan)}, 5, 1),
			want: []listed{float64sOf([]int{5, 3}, 1, 0, 0, 0, 10, 0, 0, 10, 0, 0, 0, 100, 0, 0, 100)}},
		{attrs: tree, in: rows, want: []listed{float64sOf([]int{3, 1}, 3, 3, 3)}, typ: tensor.Float64},
		{attrs: tree.with(attrs{"nodes_missing_value_tracks_true": []int{1, 0}}), in: rows,
			want: []listed{float64sOf([]int{3, 1}, 3, 3, -2)}, typ: tensor.Float64},
		{attrs: tree.with(attrs{"aggregate_function": 0}), in: rows, want: []listed{float64sOf([]int{3, 1}, 1.5, 1.5, 1.5)},
			typ: tensor.Float64},
		{attrs: tree.with(attrs{"aggregate_function": 2}), in: rows, want: []listed{float64sOf([]int{3, 1}, -1, -1, -1)},
			typ: tensor.Float64},
		{attrs: tree.with(attrs{"aggregate_function": 3, "post_transform": 2}), in: rows,
			want: []listed{float64sOf([]int{3, 1}, .98201379, .98201379, .98201379)}, typ: tensor.Float64},
		{attrs: tree.with(attrs{"aggregate_function": 4}), in: rows},
		{attrs: tree.with(attrs{"post_transform": -1}), in: rows},
		{attrs: tree.with(attrs{"tree_roots": []int{2}}), in: rows},
		{attrs: tree.with(attrs{"nodes_truenodeids": []int{0, 2}}), in: rows},
		{attrs: tree.with(attrs{"nodes_modes": doubles(onnxpb.Uint8, 5, 7)}), in: rows},
		{attrs: tree.with(attrs{"leaf_targetids": []int{0, 1}}), in: rows},
		{attrs: sets.with(attrs{"membership_values": nil}), in: tensor.New(d, []float32{3.5}, 1, 1)},
	} {
		c.op, c.version = "TreeEnsemble", 5
		c.run(t, d)
	}
}

func TestSupportVectors(t *testing.T) {
	d := cpu(t)
	x := tensor.New(d, []float32{.5, 1, -1, .3, 2, -1.5}, 3, 2)
	regressor := attrs{"kernel_params": []float64{.5, .25, 3}, "coefficients": []float64{.5, -1, .25, 1, -.75},
		"rho": []float64{.1}, "n_supports": 5, "support_vectors": []float64{1.76, .4, .98, 2.24, 1.87, -.98, .95, -.15, -.1,
			.41}}
	linear := attrs{"coefficients": []float64{.5, -1}, "rho": []float64{.25}}
	for _, c := range []mlCase{
		{attrs: regressor, want: []listed{float64sOf([]int{3, 1}, -1.9462501, -2.1152499, 6.99875)}},
		{attrs: regressor.with(attrs{"kernel_type": "POLY"}),
			want: []listed{float64sOf([]int{3, 1}, -3.7462962, -.18805599, 10.772942)}},
		{attrs: regressor.with(attrs{"kernel_type": "RBF"}),
			want: []listed{float64sOf([]int{3, 1}, -.17041126, -.2708437, .61421794)}},
		{attrs: regressor.with(attrs{"kernel_type": "SIGMOID"}),
			want: []listed{float64sOf([]int{3, 1}, -.3256825, -.92624104, 2.2206364)}},
		{attrs: regressor.with(attrs{"one_class": 1}), want: []listed{float64sOf([]int{3, 1}, -1, -1, 1)}},
		{attrs: linear, want: []listed{float64sOf([]int{3, 1}, -.5, -.55, 2.75)}},
		{attrs: linear.with(attrs{"post_transform": "LOGISTIC"}),
			want: []listed{float64sOf([]int{3, 1}, .37754067, .36586440, .93991335)}},
		{attrs: linear.with(attrs{"coefficients": []float64{1}})},
		{attrs: regressor.with(attrs{"kernel_type": "COSINE"})},
		{attrs: regressor.with(attrs{"n_supports": 3})},
		{attrs: regressor.with(attrs{"rho": nil})},
		{attrs: regressor.with(attrs{"kernel_params": []float64{1}})},
	} {
		c.op, c.in = "SVMRegressor", x
		c.run(t, d)
	}

	vectors := []float64{1.62, -.61, -.53, -1.07, .87, -2.3, 1.74, -.76, .32, -.25}
	two := attrs{"kernel_type": "RBF", "kernel_params": []float64{.5, .25, 3},
		"coefficients": []float64{1.46, -2.06, -.32, -.38, 1.13}, "rho": []float64{.1}, "support_vectors": vectors,
		"vectors_per_class": []int{2, 3}, "classlabels_ints": []int{5, 6}}
	three := two.with(attrs{"coefficients": []float64{1.46, -2.06, -.32, -.38, 1.13, -1.1, -.17, -.88, .04, .58},
		"rho": []float64{.1, .2, .3}, "vectors_per_class": []int{2, 1, 2}, "classlabels_ints": []int{5, 6, 7}})
	probability := attrs{"prob_a": []float64{-1, -1.1, -1.2}, "prob_b": []float64{0, .05, .1}}
	labels := float64sOf([]int{3}, 5, 6, 5) // of votes
	for _, c := range []mlCase{
		{attrs: two, want: []listed{labels, float64sOf([]int{3, 2}, -.6414193, .6414193, .19097714, -.19097714, -.6616421,
			.6616421)}},
		{attrs: two.with(attrs{"post_transform": "LOGISTIC"}),
			want: []listed{labels, float64sOf([]int{3, 2}, .34492576, .65507424, .5475997, .45240033, .34037083, .65962917)}},
		{attrs: two.with(attrs{"prob_a": []float64{-1}, "prob_b": []float64{0}}),
			want: []listed{labels, float64sOf([]int{3, 2}, .65252894, .34747103, .45235607, .54764384, .6568498, .34315014)}},
		{attrs: two.with(attrs{"classlabels_ints": nil, "classlabels_strings": []string{"a", "b"}}),
			want: []listed{{shape: []int{3}, strings: []string{"a", "b", "a"}}, float64sOf([]int{3, 2}, -.6414193, .6414193,
				.19097714, -.19097714, -.6616421, .6616421)}},
		{attrs: three, want: []listed{labels, float64sOf([]int{3, 3}, .1698149, .49912125, .5616683, -.5923761, .51834846,
			.503953, .8148652, -.6482447, .05669284)}},
		{attrs: three.with(attrs{"post_transform": "SOFTMAX"}),
			want: []listed{labels, float64sOf([]int{3, 3}, .25841632, .35919964, .382384, .14225326, .43196028, .42578655,
				.58822244, .13618241, .27559513)}},
		{attrs: three.with(probability),
			want: []listed{labels, float64sOf([]int{3, 3}, .41139424, .36181247, .2267934, .29730204, .46936342, .23333457,
				.30082205, .2622026, .4369753)}},
		{attrs: three.with(probability).with(attrs{"post_transform": "LOGISTIC"}),
			want: []listed{labels, float64sOf([]int{3, 3}, .60142213, .5894791, .55645657, .57378286, .61523306, .5580704,
				.57464343, .5651777, .60753804)}},
		{attrs: attrs{"coefficients": []float64{.5, -1, -.2, .3}, "rho": []float64{.1}, "classlabels_ints": []int{5, 7}},
			want: []listed{float64sOf([]int{3}, 7, 7, 5), float64sOf([]int{3, 2}, -.65, .3, -.7, .39, 2.6, -.75)}},
		{attrs: two.with(attrs{"coefficients": []float64{1, 2}})},
		{attrs: three.with(attrs{"rho": []float64{1}})},
		{attrs: three.with(attrs{"vectors_per_class": []int{2, 3}})},
		{attrs: three.with(attrs{"vectors_per_class": []int{2, 4, -1}})},
		{attrs: three.with(attrs{"prob_a": []float64{1, 2, 3}})},
		{attrs: two.with(attrs{"support_vectors": vectors[:5]})},
	} {
		c.op, c.in = "SVMClassifier", x
		c.run(t, d)
	}
}
