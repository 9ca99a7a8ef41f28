// Package parquet reads columns of Parquet files as arrays.
//
//	f, err := parquet.Open("train.parquet")
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	whole, err := f.DropMissing("age") // or f.FillMissing("age", 0)
//	if err != nil {
//		return err
//	}
//	x, err := parquet.Columns[float32](whole, "age", "fare") // [rows, 2]
//	y, classes, err := whole.Labels("class")                 // [rows]
//
// Columns of numbers, bools, dates and times have the types of [data.Number], and text becomes labels.
// A null, and a float that is NaN, is a value that is missing: an error that says where, unless
// DropMissing or FillMissing says what to do. Only the columns that are asked for are read;
// [File.Group] takes the row groups of a large file one at a time.
//
// Fields of groups are columns whose names are joined by dots. Lists and maps are not read. Files that
// are encrypted, or compressed by LZ4, are not, either.
//
// A file that is damaged is an error that wraps tensor.ErrFormat. But memory is asked for as a page
// claims to need it, before that is seen to be false: 4 GiB at most, by a few bytes.
//
// The package is apart from data because it links github.com/parquet-go/parquet-go.
//
// Stability: the API stays within a minor version; what goes in the next one is replaced, and its
// release notes say by what.
package parquet
