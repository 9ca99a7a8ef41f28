package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	const nodes = "nodes_falsenodeids nodes_featureids nodes_hitrates nodes_missing_value_tracks_true nodes_modes " +
		"nodes_nodeids nodes_treeids nodes_truenodeids nodes_values base_values post_transform "
	const tensors = " nodes_hitrates_as_tensor nodes_values_as_tensor base_values_as_tensor "
	const classes = nodes + "class_ids class_nodeids class_treeids class_weights classlabels_int64s classlabels_strings"
	const targets = nodes + "aggregate_function n_targets target_ids target_nodeids target_treeids target_weights"
	Register(
		Operator{Domain: ml, Name: "TreeEnsembleClassifier", Attributes: classes, Run: classifyTrees, Shape: classificationShape},
		Operator{Domain: ml, Name: "TreeEnsembleClassifier", Since: 3, Attributes: classes + tensors +
			"class_weights_as_tensor", Run: classifyTrees, Shape: classificationShape},
		Operator{Domain: ml, Name: "TreeEnsembleRegressor", Attributes: targets, Run: regressTrees, Shape: regressionShape("n_targets")},
		Operator{Domain: ml, Name: "TreeEnsembleRegressor", Since: 3, Attributes: targets + tensors +
			"target_weights_as_tensor", Run: regressTrees, Shape: regressionShape("n_targets")},
		Operator{Domain: ml, Name: "TreeEnsemble", Since: 5,
			Attributes: "aggregate_function leaf_targetids leaf_weights membership_values n_targets " +
				"nodes_falseleafs nodes_falsenodeids nodes_featureids nodes_hitrates nodes_missing_value_tracks_true " +
				"nodes_modes nodes_splits nodes_trueleafs nodes_truenodeids post_transform tree_roots", Run: runTrees,
			Shape: func(c *ShapeCall) []Known { return typed(regressionShape("n_targets"), c.Type(0))(c) }},
	)
}

// forest is a list of decision trees.
type forest struct {
	nodes   []question
	leaves  [][]vote
	roots   []place
	targets int
	base    []float64 // for each target, added to what the trees say; one number, or none
}

// place is a node of a forest, or a leaf.
type place struct {
	leaf  bool
	index int
}

// question is a node that asks about a feature.
type question struct {
	feature   int
	mode      string
	value     float64
	members   []float64 // of BRANCH_MEMBER
	missing   bool      // the answer for NaN
	yes, no   place
	childless bool // a leaf among the nodes of the older operators
}

// vote is what a leaf says about a target.
type vote struct {
	target int
	weight float64
}

// modes are the kinds of questions, by the numbers of TreeEnsemble.
var modes = []string{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"}

func (q *question) answer(x float64) bool {
	if math.IsNaN(x) {
		return q.missing
	}
	switch q.mode {
	case "BRANCH_LEQ":
		return x <= q.value
	case "BRANCH_LT":
		return x < q.value
	case "BRANCH_GTE":
		return x >= q.value
	case "BRANCH_GT":
		return x > q.value
	case "BRANCH_EQ":
		return x == q.value
	case "BRANCH_NEQ":
		return x != q.value
	}
	return slices.Contains(q.members, x)
}

// leaf returns the votes of the leaf that a row of features leads to.
func (f *forest) leaf(c *Call, at place, x []float64) []vote {
	for range len(f.nodes) + 1 {
		if at.leaf {
			return f.leaves[at.index]
		}
		n := &f.nodes[at.index]
		if n.answer(x[n.feature]) {
			at = n.yes
		} else {
			at = n.no
		}
	}
	c.Fail("a tree has a cycle")
	return nil
}

// scores returns what the trees say about each target, a row for each row of input 0: the SUM, AVERAGE, MIN or MAX of
// the votes, 0 of none.
func (f *forest) scores(c *Call, aggregate string, typ tensor.Type) *autograd.Node {
	x, features := c.matrix()
	for _, n := range f.nodes {
		if !n.childless && n.feature >= features {
			c.Fail("a tree asks for feature %d of %d", n.feature, features)
		}
	}
	rows := len(x)
	if rows > math.MaxInt32/f.targets {
		c.Fail("%d rows of %d targets", rows, f.targets)
	}
	out, voted := make([]float64, rows*f.targets), make([]bool, f.targets)
	for r, row := range x {
		y := out[r*f.targets : (r+1)*f.targets]
		clear(voted)
		for _, root := range f.roots {
			for _, v := range f.leaf(c, root, row) {
				switch {
				case aggregate == "SUM" || aggregate == "AVERAGE":
					y[v.target] += v.weight
				case !voted[v.target]:
					y[v.target] = v.weight
				case aggregate == "MIN":
					y[v.target] = min(y[v.target], v.weight)
				case aggregate == "MAX":
					y[v.target] = max(y[v.target], v.weight)
				default:
					c.Fail("aggregate_function is %q", aggregate)
				}
				voted[v.target] = true
			}
		}
		for k := range y {
			if aggregate == "AVERAGE" {
				y[k] /= float64(len(f.roots))
			}
			if len(f.base) > 0 {
				y[k] += f.base[min(k, len(f.base)-1)]
			}
		}
	}
	return newFloats(c, out, typ, rows, f.targets)
}

// matrix returns the rows of input 0 on the host, and how many features they have.
func (c *Call) matrix() (rows [][]float64, features int) {
	shape := c.Shape(0)
	if len(shape) == 0 || len(shape) > 2 {
		c.Fail("an input of shape %v, and should be of [N F] or [F]", shape)
	}
	x := c.Floats(0)
	n := 1
	if len(shape) == 2 {
		n = shape[0]
	}
	features = shape[len(shape)-1]
	for r := range n {
		rows = append(rows, x[r*features:(r+1)*features])
	}
	return rows, features
}

// numbers returns a list of floats, or the tensor NAME_as_tensor in its place.
func (c *Call) numbers(name string) []float64 {
	if v := c.TensorAttribute(name + "_as_tensor"); v != nil {
		return c.column(v).floats
	}
	return c.FloatList(name)
}

// newForest reads the trees of the older operators, whose leaves are nodes. votes is "class" or "target".
func newForest(c *Call, votes string, targets int) *forest {
	trees, ids := c.IntList("nodes_treeids"), c.IntList("nodes_nodeids")
	features, kinds, values := c.IntList("nodes_featureids"), c.StringList("nodes_modes"), c.numbers("nodes_values")
	yes, no, missing := c.IntList("nodes_truenodeids"), c.IntList("nodes_falsenodeids"),
		c.IntList("nodes_missing_value_tracks_true")
	n := len(trees)
	if targets < 1 || n == 0 {
		c.Fail("%d nodes and %d targets", n, targets)
	}
	for _, size := range []int{len(ids), len(features), len(kinds), len(values), len(yes), len(no)} {
		if size != n {
			c.Fail("attributes of nodes have %d and %d elements", n, size)
		}
	}
	if len(missing) != 0 && len(missing) != n {
		c.Fail("attributes of nodes have %d and %d elements", n, len(missing))
	}
	f := &forest{targets: targets, base: c.base(targets), nodes: make([]question, n), leaves: make([][]vote, n)}
	index, begun := map[[2]int]int{}, map[int]bool{}
	for i, id := range ids {
		if _, twice := index[[2]int{trees[i], id}]; twice {
			c.Fail("two nodes %d of tree %d", id, trees[i])
		}
		index[[2]int{trees[i], id}] = i
	}
	at := func(tree, id int) place {
		i, ok := index[[2]int{tree, id}]
		if !ok {
			c.Fail("there is no node %d of tree %d", id, tree)
		}
		return place{kinds[i] == "LEAF", i}
	}
	for i, id := range ids {
		if !begun[trees[i]] {
			begun[trees[i]] = true
			f.roots = append(f.roots, at(trees[i], id))
		}
		if kinds[i] == "LEAF" {
			f.nodes[i].childless = true
			continue
		}
		if !slices.Contains(modes[:6], kinds[i]) || features[i] < 0 {
			c.Fail("a node of mode %q asks for feature %d", kinds[i], features[i])
		}
		f.nodes[i] = question{feature: features[i], mode: kinds[i], value: values[i], missing: len(missing) > 0 &&
			missing[i] != 0, yes: at(trees[i], yes[i]), no: at(trees[i], no[i])}
	}
	voteTrees, voteNodes, voteTargets, weights := c.IntList(votes+"_treeids"), c.IntList(votes+"_nodeids"),
		c.IntList(votes+"_ids"), c.numbers(votes+"_weights")
	for _, size := range []int{len(voteNodes), len(voteTargets), len(weights)} {
		if size != len(voteTrees) {
			c.Fail("attributes of leaves have %d and %d elements", len(voteTrees), size)
		}
	}
	for k, tree := range voteTrees {
		i := at(tree, voteNodes[k]).index
		f.leaves[i] = append(f.leaves[i], c.vote(voteTargets[k], targets, weights[k]))
	}
	return f
}

func (c *Call) vote(target, targets int, weight float64) vote {
	if target < 0 || target >= targets {
		c.Fail("a leaf says something of target %d of %d", target, targets)
	}
	return vote{target, weight}
}

func (c *Call) base(targets int) []float64 {
	base := c.numbers("base_values")
	if len(base) > 1 && len(base) != targets {
		c.Fail("%d base values of %d targets", len(base), targets)
	}
	return base
}

// regressTrees is TreeEnsembleRegressor.
func regressTrees(c *Call) []*Value {
	f := c.once(func() any { return newForest(c, "target", c.Int("n_targets", 1)) }).(*forest)
	y := f.scores(c, c.String("aggregate_function", "SUM"), tensor.Float32)
	return Out(c.transformed(y, c.String("post_transform", "NONE")))
}

// classifyTrees is TreeEnsembleClassifier: the label of the largest score, and the scores.
func classifyTrees(c *Call) []*Value {
	labels := c.labels("classlabels_int64s", "classlabels_strings")
	f := c.once(func() any { return newForest(c, "class", labels.len()) }).(*forest)
	scores := f.scores(c, "SUM", tensor.Float32)
	transform := c.String("post_transform", "NONE")
	only, positive := f.only()
	switch {
	case labels.len() == 1: // the label, or none
		labels = labels.behindNone()
		return append(labels.of(c, chosen(scores, 0)), Out(c.transformed(scores, transform))...)
	case labels.len() > 2 || only < 0:
		return append(labels.of(c, autograd.Const(scores.ArgMax(1))), Out(c.transformed(scores, transform))...)
	}
	// Leaves speak of one of two classes. Their sum says whether it is the second class, and if the class that they speak
	// of is the first one by number, the score of the other follows from it: a probability where all weights are positive.
	one := scores.Slice(1, only, only+1)
	threshold := 0.0
	if positive {
		threshold = 0.5
	}
	if only == 0 {
		if !positive && transform == "NONE" {
			scores = autograd.Concat(1, one.Neg(), one)
		} else {
			scores = both(one, transform)
		}
	}
	return append(labels.of(c, chosen(one, threshold)), Out(c.transformed(scores, transform))...)
}

// only returns the class that all leaves speak of, or −1, and whether no weight is negative.
func (f *forest) only() (class int, positive bool) {
	class, positive = -1, true
	for _, votes := range f.leaves {
		for _, v := range votes {
			if class >= 0 && v.target != class {
				return -1, false
			}
			class, positive = v.target, positive && v.weight >= 0
		}
	}
	return class, positive
}

// chosen returns 1 for each row of one score that is above a threshold, and else 0.
func chosen(scores *autograd.Node, threshold float64) *autograd.Node {
	return scores.GtScalar(threshold).To(tensor.Int64).Reshape(scores.Shape()[0])
}

// runTrees is TreeEnsemble.
func runTrees(c *Call) []*Value {
	f := c.once(func() any { return newEnsemble(c) }).(*forest)
	aggregate, transform := c.Int("aggregate_function", 1), c.Int("post_transform", 0)
	aggregates, transforms := []string{"AVERAGE", "SUM", "MIN", "MAX"},
		[]string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}
	if aggregate < 0 || aggregate >= len(aggregates) || transform < 0 || transform >= len(transforms) {
		c.Fail("aggregate_function is %d and post_transform %d", aggregate, transform)
	}
	y := f.scores(c, aggregates[aggregate], c.Type(0))
	return Out(c.transformed(y, transforms[transform]))
}

// newEnsemble reads the trees of TreeEnsemble.
func newEnsemble(c *Call) *forest {
	list := func(name string) column {
		v := c.TensorAttribute(name)
		if v == nil {
			return column{}
		}
		return c.column(v)
	}
	features, kinds, values := c.IntList("nodes_featureids"), list("nodes_modes").ints, list("nodes_splits").floats
	yes, no := c.IntList("nodes_truenodeids"), c.IntList("nodes_falsenodeids")
	yesLeaf, noLeaf := c.IntList("nodes_trueleafs"), c.IntList("nodes_falseleafs")
	targets, weights, n := c.IntList("leaf_targetids"), list("leaf_weights").floats, len(features)
	for _, size := range []int{len(kinds), len(values), len(yes), len(no), len(yesLeaf), len(noLeaf)} {
		if size != n {
			c.Fail("attributes of nodes have %d and %d elements", n, size)
		}
	}
	missing := c.IntList("nodes_missing_value_tracks_true")
	if len(missing) != 0 && len(missing) != n || len(targets) != len(weights) {
		c.Fail("attributes of nodes have %d and %d elements, those of leaves %d and %d", n, len(missing), len(targets),
			len(weights))
	}
	count := c.Int("n_targets", 1)
	if count < 1 || count > math.MaxInt32 {
		c.Fail("n_targets is %d", count)
	}
	f := &forest{targets: count, nodes: make([]question, n)}
	for k, target := range targets {
		f.leaves = append(f.leaves, []vote{c.vote(target, count, weights[k])})
	}
	at := func(leaf, i int) place {
		most := n
		if leaf != 0 {
			most = len(f.leaves)
		}
		if i < 0 || i >= most {
			c.Fail("a tree leads to %d of %d", i, most)
		}
		return place{leaf != 0, i}
	}
	sets := c.members(list("membership_values").floats)
	for i := range f.nodes {
		if kinds[i] < 0 || kinds[i] >= len(modes) || features[i] < 0 {
			c.Fail("a node of mode %d asks for feature %d", kinds[i], features[i])
		}
		f.nodes[i] = question{feature: features[i], mode: modes[kinds[i]], value: values[i], missing: len(missing) > 0 &&
			missing[i] != 0, yes: at(yesLeaf[i], yes[i]), no: at(noLeaf[i], no[i])}
		if f.nodes[i].mode == "BRANCH_MEMBER" {
			if len(sets) == 0 {
				c.Fail("membership_values has too few sets")
			}
			f.nodes[i].members, sets = sets[0], sets[1:]
		}
	}
	for _, root := range c.IntList("tree_roots") {
		f.roots = append(f.roots, at(0, root))
	}
	if len(f.roots) == 0 {
		c.Fail("there are no trees")
	}
	return f
}

// members cuts a list into sets, each of which ends in NaN.
func (c *Call) members(list []float64) [][]float64 {
	var sets [][]float64
	for len(list) > 0 {
		end := slices.IndexFunc(list, math.IsNaN)
		if end < 0 {
			return append(sets, list)
		}
		sets, list = append(sets, list[:end]), list[end+1:]
	}
	return sets
}
