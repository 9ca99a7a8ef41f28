// Package imagefit fits a small coordinate network to one image: position in, colour out.
//
//	img, err := imagefit.ReadPNG("photo.png")
//	fit, err := imagefit.New(device, img, imagefit.Defaults())
//	err = fit.Run(ctx, func(p imagefit.Progress) { ... })
//	out, err := fit.Model.Render(ctx, img.Width, img.Height)
//
// Each step draws pixels at random, encodes their positions as sines and cosines, and moves the network
// along the gradient of the squared error of its colours. Drawing, colour look-up and encoding run on
// the device: after the first step, nothing moves between host and device but the loss that is logged.
package imagefit
