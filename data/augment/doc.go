// Package augment changes pictures at random on the device: another crop, side or colour of each
// picture in each step of training.
//
//	x = augment.RandomCrop(x, 32, 32, rng, augment.CropOptions{Padding: 4})
//	x = augment.RandomHorizontalFlip(x, 0.5, rng)
//	x = augment.Normalize(x, []float64{0.49, 0.48, 0.45}, []float64{0.25, 0.24, 0.26})
//	x = augment.RandomErasing(x, 0.25, rng)
//	x, y = mix.Apply(x, y, rng) // mix is augment.NewMixUp(0.2)
//
// Pictures are a batch [n, channels, height, width], of Uint8 in [0, 255] or of floats in [0, 1].
// Functions have the names of torchvision.transforms.v2, and return a tensor of their own. Every
// picture has its own random numbers; torchvision draws once for a batch. What is drawn follows from
// the RNG alone, and is the same on every device. A recorded step draws other numbers in each run,
// those that the eager step would.
//
// Functions panic with a *tensor.Error: with tensor.ErrShape for other than four axes or a crop that
// does not fit, with tensor.ErrType for elements that they do not take, and with tensor.ErrValue for
// an option outside of its range.
//
// Stability: the API stays within a minor version; what goes in the next one is replaced, and its
// release notes say by what.
package augment
