// Package images reads pictures from folders, one for each class, and makes batches of them.
//
//	train, err := images.OpenFolder("flowers/train") // flowers/train/rose/1.jpg, …
//	if err != nil {
//		return err
//	}
//	loader := data.NewLoader(d, []data.Array{train.Labels}, data.LoaderConfig{
//		Batch: 64, Seed: 1, Transform: train.Transform(images.Options{Resize: 256, Height: 224, Width: 224})})
//	for batch := range loader.Epoch() {
//		x := augment.Normalize(batch[0], mean, deviation) // Uint8 [64, 3, 224, 224] to floats
//		labels := batch[1]                                // Int64 [64]: places in train.Classes
//	}
//	err = loader.Err()
//
// PNG, JPEG, WebP, GIF, BMP and TIFF are read, by goroutines that run ahead of the loop. Pictures are
// turned upright by their EXIF data; of several pictures in a file the first is read; what is
// transparent has the colour that is stored below. Package data/augment changes them on the device.
//
// A picture has 2²⁷ pixels at most. Damage is an error that names the file.
//
// Stability: the API stays within a minor version; what goes in the next one is replaced, and its
// release notes say by what.
package images
