// Package imagefit fits a small coordinate network to one image: position in, colour out.
//
//	img, err := imagefit.ReadImage("photo.jpg")
//	cfg, err := imagefit.Preset(imagefit.Good, img.Width, img.Height)
//	fit, err := imagefit.New(device, img, cfg)
//	why, err := fit.Run(ctx, imagefit.Watch{Report: func(p imagefit.Progress) { fmt.Println(p.Step) }})
//	out, err := fit.Model.Render(ctx, img.Width, img.Height)
//
// Each step draws pixels at random, encodes their positions, and moves the network, and what the
// encoding trains, against the gradient of the error of its colours. Drawing, colour look-up and
// encoding run on the device: after the first step, nothing moves between host and device but the
// loss that is read. A fit can be written to a checkpoint and resumed bit for bit; a model is a
// file that NumPy reads.
package imagefit
