package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// joinPads makes a Pad of zeros the padding of the convolution behind it.
//
//	Pad(x, [0 0 1 1 0 0 1 1]) → Conv(pads 0)     becomes     Conv(pads [1 1 1 1])
//
// It leaves pads of another value or mode, of batch or channels, those that cut, and pads that others use.
func joinPads(r *rewriter) {
	for _, conv := range slices.Clone(r.g.nodes) {
		pad := r.makes[conv.input(0)]
		if !conv.is("Conv") || !pad.is("Pad") || r.uses[conv.input(0)] != 1 {
			continue
		}
		if a := conv.attributes["auto_pad"]; a != nil && a.String != "NOTSET" {
			continue
		}
		if a := pad.attributes["mode"]; a != nil && a.String != "constant" {
			continue
		}
		widths, ok := r.padWidths(pad)
		rank := len(widths) / 2
		if !ok || rank < 3 || slices.Min(widths) < 0 || widths[0] != 0 || widths[1] != 0 || widths[rank] != 0 || widths[rank+1] != 0 {
			continue
		}
		both := append(slices.Clone(widths[2:rank]), widths[rank+2:]...)
		own := make([]int64, len(both))
		if a := conv.attributes["pads"]; a != nil {
			if len(a.Ints) != len(both) {
				continue
			}
			copy(own, a.Ints)
		}
		for i, w := range both {
			own[i] += int64(w)
		}
		joined := conv.with(append([]string{pad.input(0)}, conv.proto.Inputs[1:]...), conv.proto.Outputs)
		joined.attributes["pads"] = &onnxpb.Attribute{Name: "pads", Type: onnxpb.AttrInts, Ints: own}
		r.replace(conv, joined)
		r.remove(pad)
	}
}

// padWidths returns the widths of a Pad of zeros, and false if they are not known.
func (r *rewriter) padWidths(pad *node) ([]int, bool) {
	if pad.version < 11 {
		a := pad.attributes["pads"]
		if a == nil || pad.attributes["value"] != nil && pad.attributes["value"].Float != 0 {
			return nil, false
		}
		widths := make([]int, len(a.Ints))
		for i, w := range a.Ints {
			widths[i] = int(w)
		}
		return widths, len(widths) > 0
	}
	if pad.input(3) != "" {
		return nil, false
	}
	if value := pad.input(2); value != "" {
		v := r.constant(value)
		if v == nil {
			return nil, false
		}
		if x, err := v.Float64s(); err != nil || len(x) != 1 || x[0] != 0 {
			return nil, false
		}
	}
	widths, ok := r.ints(pad.input(1))
	return widths, ok && len(widths) > 0
}

// foldScales makes what multiplies or adds to the channels of a convolution part of its weights and bias.
//
//	BatchNormalization(Conv(x, w, b), γ, β, μ, σ²)     becomes     Conv(x, w·γ/√(σ²+ε), (b−μ)·γ/√(σ²+ε) + β)
//	Conv(x, w, b)·c, Conv(x, w, b) + c                 alike, c one number or one for each channel
//
// It leaves convolutions that others use, and weights that are no constants.
func foldScales(r *rewriter) {
	for _, n := range slices.Clone(r.g.nodes) {
		if !n.is("BatchNormalization", "Mul", "Add") {
			continue
		}
		data := 0 // which input the convolution is
		if n.is("Mul", "Add") && r.constant(n.input(0)) != nil {
			data = 1
		}
		conv := r.makes[n.input(data)]
		if !conv.is("Conv") || r.uses[n.input(data)] != 1 {
			continue
		}
		w := r.constant(conv.input(1))
		if w == nil || !w.Type().Float() {
			continue
		}
		channels := w.Shape()[0]
		bias := autograd.Const(tensor.ZerosOf(w.Device(), w.Type(), channels))
		if conv.input(2) != "" {
			if bias = r.constant(conv.input(2)); bias == nil {
				continue
			}
		}
		scale, shift := r.affine(n, 1-data, w, channels)
		if scale == nil && shift == nil {
			continue
		}
		if scale != nil {
			shape := slices.Repeat([]int{1}, w.Rank())
			shape[0] = channels
			w, bias = w.Mul(scale.Reshape(shape...)), bias.Mul(scale)
		}
		if shift != nil {
			bias = bias.Add(shift)
		}
		joined := conv.with([]string{conv.input(0), r.add(conv.input(1), w), r.add(n.proto.Outputs[0]+" bias", bias)}, n.proto.Outputs[:1])
		r.replace(n, joined)
		r.remove(conv)
	}
}

// affine returns the factor and the addend of each channel that a node is, nil for none: both nil if it is nothing of
// the kind.
func (r *rewriter) affine(n *node, other int, w *autograd.Node, channels int) (scale, shift *autograd.Node) {
	if n.is("BatchNormalization") {
		if a := n.attributes["training_mode"]; a != nil && a.Int != 0 || len(n.proto.Outputs) > 1 {
			return nil, nil
		}
		if a := n.attributes["spatial"]; a != nil && a.Int == 0 {
			return nil, nil
		}
		var p [4]*autograd.Node // scale, bias, mean, variance
		for i := range p {
			if p[i] = r.constant(n.input(i + 1)); p[i] == nil || p[i].Len() != channels || p[i].Type() != w.Type() {
				return nil, nil
			}
		}
		eps := 1e-5
		if a := n.attributes["epsilon"]; a != nil {
			eps = float64(a.Float)
		}
		scale = p[0].Div(p[3].AddScalar(eps).Sqrt())
		return scale, p[1].Sub(p[2].Mul(scale))
	}
	c := r.constant(n.input(other))
	if c == nil || c.Type() != w.Type() || n.version < 7 {
		return nil, nil
	}
	// One number, or one for each channel: [C 1 1] or [1 C 1 1] of pictures.
	switch shape := c.Shape(); {
	case c.Len() == 1 && c.Rank() <= w.Rank():
		c = c.Reshape(1).Expand(channels).Copy()
	case c.Len() == channels && len(shape) >= w.Rank()-1 && len(shape) <= w.Rank() && shape[len(shape)-w.Rank()+1] == channels:
		c = c.Reshape(channels)
	default:
		return nil, nil
	}
	if n.is("Mul") {
		return c, nil
	}
	return nil, c
}
