// Diffusion learns to take noise from handwritten digits of 8×8 pixels, and draws a hundred that
// nobody wrote, from noise alone.
//
//	go run ./examples/diffusion
package main

import (
	"fmt"
	"image"
	"image/png"
	"log"
	"os"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

const times = 60 // steps from a digit to noise

// schedule returns how much noise each step adds, and how much of a digit is left after it: beta and
// its complement multiplied up.
func schedule(d tensor.Device) (beta, left *tensor.Tensor) {
	beta = tensor.Linspace(d, 1e-3, 0.2, times)
	return beta, beta.Neg().AddScalar(1).CumProd(0)
}

type denoiser struct {
	Time *nn.Embedding
	Net  *nn.MLP
}

func newDenoiser(d tensor.Device, rng *tensor.RNG) *denoiser {
	return &denoiser{
		Time: nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: times, Size: 32}),
		Net: nn.NewMLP(d, rng, nn.MLPConfig{
			Sizes: []int{64 + 32, 256, 256, 64}, Activations: []nn.Activation{nn.GELU},
		}),
	}
}

// noise returns the noise [n, 64] that is in x [n, 64] at times t [n].
func (m *denoiser) noise(x, t *tensor.Tensor) *autograd.Node {
	return m.Net.Forward(autograd.Concat(1, autograd.Const(x), m.Time.Forward(t)))
}

// loss compares the noise that the model sees in images [n, 64] with that which was added. Source:
// Ho, Jain, Abbeel, "Denoising Diffusion Probabilistic Models", NeurIPS 2020, algorithm 1.
func (m *denoiser) loss(images, left *tensor.Tensor, rng *tensor.RNG) *autograd.Node {
	d, n := images.Device(), images.Shape()[0]
	t := rng.Ints(d, times, n)
	noise := rng.Normal(d, 0, 1, n, 64)
	part := left.Index(t).Unsqueeze(1)
	x := images.Mul(part.Sqrt()).Add(noise.Mul(part.Neg().AddScalar(1).Sqrt()))
	return autograd.MSE(m.noise(x, t), autograd.Const(noise))
}

// pixels returns images [n, 8, 8] of 0 to 16 as [n, 64] of −1 to 1.
func pixels(images *tensor.Tensor) *tensor.Tensor {
	return images.Flatten(1, -1).DivScalar(8).SubScalar(1)
}

// train returns the mean loss of the last epoch.
func train(d tensor.Device, m *denoiser, images data.Array, rng *tensor.RNG, epochs int) (mean float64, err error) {
	loader := data.NewLoader(d, []data.Array{images}, data.LoaderConfig{Batch: 128, Seed: 1})
	opt := optim.NewAdamW(nn.Params(m), optim.AdamWDefaults(optim.Cosine(2e-3, 0, epochs*loader.Batches())))
	_, left := schedule(d)
	for range epochs {
		sum := tensor.Scalar(d, 0)
		for batch := range loader.Epoch() {
			loss := m.loss(pixels(batch[0]), left, rng)
			if err := optim.Minimize(opt, loss); err != nil {
				return 0, err
			}
			sum = sum.Add(loss.Value())
		}
		if mean, err = sum.DivScalar(float64(loader.Batches())).Item(); err != nil {
			return 0, err
		}
	}
	return mean, nil
}

// sample returns n images [n, 64], from noise: algorithm 2.
func sample(d tensor.Device, m *denoiser, rng *tensor.RNG, n int) *tensor.Tensor {
	beta, left := schedule(d)
	x := rng.Normal(d, 0, 1, n, 64)
	autograd.NoGrad(d, func() {
		for t := times - 1; t >= 0; t-- {
			b, l := beta.Select(0, t), left.Select(0, t)
			noise := m.noise(x, tensor.FullOf(d, tensor.Int32, float64(t), n)).Value()
			x = x.Sub(noise.Mul(b.Div(l.Neg().AddScalar(1).Sqrt()))).Div(b.Neg().AddScalar(1).Sqrt())
			if t > 0 {
				x = x.Add(rng.Normal(d, 0, 1, n, 64).Mul(b.Sqrt()))
			}
		}
	})
	return x.Clamp(-1, 1)
}

// draw writes a picture of 100 images, ten in a row.
func draw(path string, images *tensor.Tensor) error {
	grid := images.Reshape(10, 10, 8, 8).Pad([][2]int{{1, 1}, {1, 1}}).Transpose(0, 2, 1, 3).Reshape(100, 100)
	grid = grid.RepeatInterleave(4, 0).RepeatInterleave(4, 1)
	gray, err := grid.AddScalar(1).MulScalar(127).To(tensor.Uint8).Uint8s()
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return png.Encode(f, &image.Gray{Pix: gray, Stride: 400, Rect: image.Rect(0, 0, 400, 400)})
}

func main() {
	digits, err := data.LoadNPZ("testdata/digits.npz")
	if err != nil {
		log.Fatal(err)
	}
	d, err := tensor.Open("auto")
	if err != nil {
		log.Fatal(err)
	}
	rng := tensor.NewRNG(1)
	m := newDenoiser(d, rng)
	loss, err := train(d, m, digits["images"], rng, 150)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("loss %.4f\n", loss)
	if err := draw("diffusion.png", sample(d, m, rng, 100)); err != nil {
		log.Fatal(err)
	}
}
