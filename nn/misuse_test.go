package nn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestLayerMisuse: a config that makes no layer, and an input that is not a layer's, are errors
// that name what is wrong.
func TestLayerMisuse(t *testing.T) {
	d := devtest.CPU(t)
	rng := tensor.NewRNG(1)
	zeros := func(shape ...int) *autograd.Node { return autograd.Const(tensor.Zeros(d, shape...)) }
	conv := func(in, out, groups int, kernel ...int) func() {
		return func() {
			nn.NewConv(d, rng, nn.ConvConfig{In: in, Out: out, Kernel: kernel, ConvOptions: tensor.ConvOptions{Groups: groups}})
		}
	}
	for name, c := range map[string]struct {
		f    func()
		kind error
		say  string
	}{
		"Linear without In":      {func() { nn.NewLinear(d, rng, nn.LinearConfig{Out: 3}) }, tensor.ErrShape, "NewLinear: shape mismatch: In is 0: a size is 1 or more"},
		"Linear of -2":           {func() { nn.NewLinear(d, rng, nn.LinearConfig{In: 3, Out: -2}) }, tensor.ErrShape, "Out is -2"},
		"Linear of no device":    {func() { nn.NewLinear(nil, rng, nn.LinearConfig{In: 3, Out: 3}) }, tensor.ErrValue, "the device is nil"},
		"Linear without numbers": {func() { nn.NewLinear(d, nil, nn.LinearConfig{In: 3, Out: 3}) }, tensor.ErrValue, "the RNG is nil"},
		"another shape drawn": {func() {
			nn.NewLinear(d, rng, nn.LinearConfig{In: 3, Out: 3, Bias: func(d tensor.Device, rng *tensor.RNG, _, _ int, _ ...int) *tensor.Tensor { return tensor.Zeros(d, 1) }})
		}, tensor.ErrShape, "shape [1] where [3] was asked for"},
		"a layer of an MLP":   {func() { nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{2, 0}}) }, tensor.ErrShape, "Out is 0"},
		"a kernel of no axes": {conv(1, 1, 1), tensor.ErrValue, "NewConv"},
		"a kernel of 4 axes":  {conv(1, 1, 1, 1, 1, 1, 1), tensor.ErrValue, "1 to 3 axes"},
		"a kernel of 0":       {conv(1, 1, 1, 3, 0), tensor.ErrShape, "Kernel is [3 0]: a size is 1 or more"},
		"a kernel below 0":    {conv(1, 1, 1, -1, -1), tensor.ErrShape, "Kernel is [-1 -1]"},
		"groups":              {conv(4, 6, 4, 3), tensor.ErrValue, "from 4 to 6 channels in 4 groups"},
		"groups below 0":      {conv(4, 6, -2, 3), tensor.ErrValue, "-2 groups"},
		"no channels":         {conv(0, 6, 1, 3), tensor.ErrShape, "In is 0"},
		"none to come":        {conv(6, 0, 1, 3), tensor.ErrShape, "Out is 0"},
		"ConvTranspose":       {func() { nn.NewConvTranspose(d, rng, nn.ConvTransposeConfig{In: 1, Out: 1, Kernel: []int{0}}) }, tensor.ErrShape, "NewConvTranspose: shape mismatch: Kernel is 0"},
		"strides": {func() {
			nn.NewConv(d, rng, nn.ConvConfig{In: 1, Out: 1, Kernel: []int{3}, ConvOptions: tensor.ConvOptions{Stride: []int{0}}}).Forward(zeros(1, 1, 5))
		}, tensor.ErrValue, "Conv"},
		"other channels":      {func() { nn.NewConv(d, rng, nn.ConvConfig{In: 2, Out: 1, Kernel: []int{3}}).Forward(zeros(1, 1, 5)) }, tensor.ErrShape, "Conv"},
		"Embedding":           {func() { nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Size: 2}) }, tensor.ErrShape, "Rows is 0"},
		"Embedding of no row": {func() { nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 2}) }, tensor.ErrShape, "Size is 0"},
		"a padding that is no row": {func() {
			nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 3, Size: 2, EmbeddingOptions: tensor.EmbeddingOptions{Padded: true, Padding: 3}})
		}, tensor.ErrIndex, "index 3"},
		"indices of reals":      {func() { nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 3, Size: 2}).Forward(tensor.Zeros(d, 1)) }, tensor.ErrType, "Embedding"},
		"LayerNorm of no axes":  {func() { nn.NewLayerNorm(d, nn.LayerNormConfig{}) }, tensor.ErrValue, "the config has no Shape"},
		"LayerNorm of -2":       {func() { nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{3, -2}}) }, tensor.ErrShape, "NewLayerNorm: shape mismatch: Shape is [3 -2]"},
		"RMSNorm of no axes":    {func() { nn.NewRMSNorm(d, nn.RMSNormConfig{}) }, tensor.ErrValue, "NewRMSNorm"},
		"GroupNorm, no groups":  {func() { nn.NewGroupNorm(d, nn.GroupNormConfig{Channels: 4}) }, tensor.ErrShape, "Groups is 0"},
		"GroupNorm, 3 of 4":     {func() { nn.NewGroupNorm(d, nn.GroupNormConfig{Channels: 4, Groups: 3}) }, tensor.ErrValue, "4 channels do not fall into 3 groups"},
		"BatchNorm":             {func() { nn.NewBatchNorm(d, nn.BatchNormConfig{}) }, tensor.ErrShape, "Channels is 0"},
		"BatchNorm, momentum":   {func() { nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 1, Momentum: 3}).Forward(zeros(2, 1)) }, tensor.ErrValue, "the momentum is 3"},
		"Dropout of 2":          {func() { (&nn.Dropout{P: 2, RNG: rng}).Forward(zeros(2)) }, tensor.ErrValue, "the probability is 2"},
		"Dropout of no numbers": {func() { (&nn.Dropout{P: 0.5}).Forward(zeros(2)) }, tensor.ErrValue, "the RNG is nil"},
		"MaxPool of no window":  {func() { (&nn.MaxPool{}).Forward(zeros(1, 1, 4)) }, tensor.ErrShape, "the window"},
		"Flatten of no items":   {func() { (&nn.Flatten{}).Forward(zeros(3)) }, tensor.ErrAxis, "rank 1"},
		"Sequential of nil":     {func() { nn.Sequential{nn.ReLU, nil}.Forward(zeros(3)) }, tensor.ErrValue, "module 1 is nil"},
		"heads":                 {func() { nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 3}) }, tensor.ErrValue, "4 features do not fall into 3 heads"},
		"no heads":              {func() { nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 4}) }, tensor.ErrShape, "Heads is 0"},
		"no size":               {func() { nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Heads: 4}) }, tensor.ErrShape, "Size is 0"},
		"hidden":                {func() { nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 4, Heads: 4, Hidden: -1}) }, tensor.ErrShape, "Hidden is -1"},
		"a probability":         {func() { nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 4, Heads: 4, Dropout: 1.5}) }, tensor.ErrValue, "Dropout is 1.5"},
		"keys of another size": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2}).Attend(zeros(2, 4), zeros(2, 3), zeros(2, 4), nil)
		}, tensor.ErrShape, "MultiHeadAttention: shape mismatch [2 4] [2 3] [2 4]"},
		"keys without values": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2}).Attend(zeros(2, 4), zeros(3, 4), zeros(2, 4), nil)
		}, tensor.ErrShape, "there is a value for each key"},
		"attention of nothing": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2}).Attend(zeros(2, 4), nil, zeros(2, 4), nil)
		}, tensor.ErrValue, "nil"},
		"a Linear that is nil":      {func() { (*nn.Linear)(nil).Forward(zeros(2, 3)) }, tensor.ErrValue, "nn: Linear: bad value: the layer is nil or a zero value: NewLinear makes one"},
		"a Linear in a Sequential":  {func() { nn.Sequential{&nn.Linear{}, nn.ReLU}.Forward(zeros(2, 3)) }, tensor.ErrValue, "NewLinear makes one"},
		"a zero Conv":               {func() { (&nn.Conv{}).Forward(zeros(2, 3, 4)) }, tensor.ErrValue, "NewConv makes one"},
		"a zero ConvTranspose":      {func() { (&nn.ConvTranspose{}).Forward(zeros(2, 3, 4)) }, tensor.ErrValue, "NewConvTranspose makes one"},
		"a zero Embedding":          {func() { (&nn.Embedding{}).Forward(tensor.ZerosOf(d, tensor.Int32, 2)) }, tensor.ErrValue, "NewEmbedding makes one"},
		"a zero LayerNorm":          {func() { (&nn.LayerNorm{}).Forward(zeros(2, 3)) }, tensor.ErrValue, "NewLayerNorm makes one"},
		"a zero RMSNorm":            {func() { (&nn.RMSNorm{}).Forward(zeros(2, 3)) }, tensor.ErrValue, "NewRMSNorm makes one"},
		"a zero GroupNorm":          {func() { (&nn.GroupNorm{}).Forward(zeros(2, 3)) }, tensor.ErrValue, "NewGroupNorm makes one"},
		"a zero BatchNorm":          {func() { (&nn.BatchNorm{}).Forward(zeros(2, 3)) }, tensor.ErrValue, "NewBatchNorm makes one"},
		"a zero MLP":                {func() { (&nn.MLP{}).Forward(zeros(2, 3)) }, tensor.ErrValue, "NewMLP makes one"},
		"a zero GRU":                {func() { (&nn.GRU{}).Forward(zeros(2, 3, 0)) }, tensor.ErrValue, "NewGRU makes one"},
		"a run of a zero GRU":       {func() { (&nn.GRU{}).Run(zeros(2, 3, 0), nil) }, tensor.ErrValue, "NewGRU makes one"},
		"a zero LSTM":               {func() { (&nn.LSTM{}).Forward(zeros(2, 3, 0)) }, tensor.ErrValue, "NewLSTM makes one"},
		"a run of a zero LSTM":      {func() { (&nn.LSTM{}).Run(zeros(2, 3, 0), nil, nil) }, tensor.ErrValue, "NewLSTM makes one"},
		"a zero MultiHeadAttention": {func() { (&nn.MultiHeadAttention{}).Forward(zeros(2, 3)) }, tensor.ErrValue, "NewMultiHeadAttention makes one"},
		"a mask of integers": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2}).Attend(zeros(3, 4), zeros(3, 4), zeros(3, 4), autograd.Const(tensor.ZerosOf(d, tensor.Int32, 3, 3)))
		}, tensor.ErrType, "a mask is of bool or of floats, not int32"},
		"a mask of integers, with dropout": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2, Dropout: 0.5}).Attend(zeros(3, 4), zeros(3, 4), zeros(3, 4), autograd.Const(tensor.ZerosOf(d, tensor.Int32, 3, 3)))
		}, tensor.ErrType, "a mask is of bool or of floats, not int32"},
		"a mask of another shape, with dropout": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2, Dropout: 0.5}).Attend(zeros(3, 4), zeros(5, 4), zeros(5, 4), zeros(5, 3))
		}, tensor.ErrShape, "MultiHeadAttention: shape mismatch: the mask is [5 3]: it does not broadcast to [2 3 5]"},
		"a mask of other heads, with dropout": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2, Dropout: 0.5}).Attend(zeros(3, 4), zeros(5, 4), zeros(5, 4), zeros(3, 3, 5))
		}, tensor.ErrShape, "the mask is [3 3 5]: it does not broadcast to [2 3 5]"},
		"a mask of more axes, with dropout": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2, Dropout: 0.5}).Attend(zeros(3, 4), zeros(5, 4), zeros(5, 4), zeros(1, 1, 3, 5))
		}, tensor.ErrShape, "does not broadcast to [2 3 5]"},
		"a zero TransformerBlock":     {func() { (&nn.TransformerBlock{}).Forward(zeros(2, 3)) }, tensor.ErrValue, "NewTransformerBlock makes one"},
		"a TransformerBlock of parts": {func() { (&nn.TransformerBlock{SelfAttn: &nn.MultiHeadAttention{}}).Forward(zeros(2, 3)) }, tensor.ErrValue, "NewTransformerBlock makes one"},
		"an MLP with a layer more": {func() {
			m := nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{3, 3}})
			m.Layers = append(m.Layers, m.Layers[0])
			m.Forward(zeros(2, 3))
		}, tensor.ErrValue, "it has 2 layers, and was made with 1"},
		"an LSTM of nothing":       {func() { nn.NewLSTM(d, rng, nn.RecurrentConfig{In: 2, Hidden: 2}).Forward(nil) }, tensor.ErrValue, "LSTM: bad value: the Node is nil"},
		"an attention to nothing":  {func() { nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2}).Forward(nil) }, tensor.ErrValue, "MultiHeadAttention: bad value: the Node is nil"},
		"an activation of nothing": {func() { nn.FromFunction(nil) }, tensor.ErrValue, "FromFunction: bad value: the function is nil"},
		"a custom one of nothing":  {func() { nn.Custom(nil) }, tensor.ErrValue, "Custom: bad value: the function is nil"},
		"a scalar":                 {func() { nn.NewLinear(d, rng, nn.LinearConfig{In: 3, Out: 3}).Forward(zeros()) }, tensor.ErrShape, "Linear"},
		"nothing":                  {func() { nn.NewLinear(d, rng, nn.LinearConfig{In: 3, Out: 3}).Forward(nil) }, tensor.ErrValue, "the Node is nil"},
	} {
		err := tensor.Try(c.f)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want %v that says %q", name, err, c.kind, c.say)
		}
	}
}
