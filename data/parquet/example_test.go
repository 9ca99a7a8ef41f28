package parquet_test

import (
	"fmt"
	"log"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/data/parquet"
)

// Numbers and labels of a file, without the rows in which one is missing.
func Example() {
	f, err := parquet.Open("testdata/types.parquet")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	whole, err := f.DropMissing("f32", "text")
	if err != nil {
		log.Fatal(err)
	}
	x, err := parquet.Columns[float32](whole, "f32", "u8")
	if err != nil {
		log.Fatal(err)
	}
	y, classes, err := whole.Labels("text")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Len(), "rows,", whole.Len(), "of them whole")
	fmt.Println(x.Shape(), data.Elements[float32](x))
	fmt.Println(classes, data.Elements[int32](y))
	_, err = parquet.Columns[float32](f, "f32")
	fmt.Println(err)
	// Output:
	// 5 rows, 3 of them whole
	// [3 2] [0.1 0 -2 255 1 3]
	// [a b ä] [1 0 2]
	// parquet: testdata/types.parquet: column "f32": row 3: a value is missing: see DropMissing and FillMissing
}
