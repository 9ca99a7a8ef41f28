// Package data is data sets in host memory, and loaders that put batches of their rows on a device.
//
//	sets, err := data.LoadNPZ("digits.npz")
//	if err != nil {
//		return err
//	}
//	train := []data.Array{sets["images"].Slice(0, 1347), sets["labels"].Slice(0, 1347)}
//	loader := data.NewLoader(d, train, data.LoaderConfig{Batch: 64, Seed: 1})
//	for range epochs {
//		for batch := range loader.Epoch() {
//			images, labels := batch[0], batch[1]
//		}
//	}
//
// An [Array] is numbers with a shape, whose first axis counts rows. A file becomes arrays by
// [LoadNPZ], [LoadIDX] and [LoadCSV]; package data/parquet reads Parquet.
//
// A [Transform] makes examples of rows by several goroutines, as by reading the files that the rows
// name: data/images does that with pictures. Package data/augment changes pictures on the device.
//
// While a program works on a batch, a goroutine of the loader gathers the rows of the next one in
// host memory. It never uses the device: what is uploaded is uploaded by the goroutine that the
// loop runs in.
//
// Stability: the API stays within a minor version; what goes in the next one is replaced, and its
// release notes say by what.
package data
