package bench

import (
	"context"
	"fmt"
	"math"

	"github.com/clgrad/clgrad/imagefit"
)

// side is that of the image that steps train on.
const side = 512

// picture returns an image of waves: what is in it does not matter to the time.
func picture() *imagefit.Image {
	img := &imagefit.Image{Width: side, Height: side}
	for y := range side {
		for x := range side {
			for c := range img.Channels() {
				img.Pixels = append(img.Pixels, float32(0.5+0.5*math.Sin(float64(x*(c+1)+y)/40)))
			}
		}
	}
	return img
}

// step measures training steps of mlpimage's default network for batches up to the whole image,
// recorded and eager.
func (s *Suite) step(ctx context.Context) error {
	img := picture()
	for _, batch := range []int{512, 8192, 65536, side * side} {
		for _, eager := range []bool{false, true} {
			cfg := imagefit.Defaults()
			cfg.Batch, cfg.Eager = batch, eager
			f, err := imagefit.New(s.Device, img, cfg)
			if err != nil {
				return err
			}
			name := fmt.Sprintf("step %d recorded", batch)
			if eager {
				name = fmt.Sprintf("step %d eager", batch)
			}
			_, err = s.timeErr(ctx, name, "us", 0, 0, f.Step)
			f.Free()
			if err != nil {
				return err
			}
		}
	}
	return s.stepHash(ctx)
}

// stepHash measures training steps on a hash grid: of the defaults, whose grid and network are
// those that tiny-cuda-nn is measured with, and of the preset good.
func (s *Suite) stepHash(ctx context.Context) error {
	good, err := imagefit.Preset(imagefit.Good, side, side)
	if err != nil {
		return err
	}
	hash := func(batch int) imagefit.Config {
		cfg := imagefit.DefaultsFor(imagefit.Hash)
		cfg.Batch = batch
		return cfg
	}
	for _, c := range []struct {
		kind string
		cfg  imagefit.Config
	}{{"hash", hash(8192)}, {"hash", hash(65536)}, {"good", good}} {
		f, err := imagefit.New(s.Device, picture(), c.cfg)
		if err != nil {
			return err
		}
		_, err = s.timeErr(ctx, fmt.Sprintf("%s %d", c.kind, c.cfg.Batch), "us", 0, 0, f.Step)
		f.Free()
		if err != nil {
			return err
		}
	}
	return nil
}

// render measures drawing a whole image, its way to the host included.
func (s *Suite) render(ctx context.Context) error {
	f, err := imagefit.New(s.Device, picture(), imagefit.Defaults())
	if err != nil {
		return err
	}
	defer f.Free()
	_, err = s.timeErr(ctx, fmt.Sprintf("render %dx%d", side, side), "us", 0, 0, func() error {
		_, err := f.Model.Render(ctx, side, side)
		return err
	})
	return err
}
