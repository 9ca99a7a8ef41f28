package plot_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/clgrad/clgrad/plot"
)

// The curve of a loss, on a logarithmic axis.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	losses := []float64{2.3, 1.1, 0.6, 0.35, 0.2, 0.12}
	path := filepath.Join(dir, "loss.svg")
	err = plot.Save(path, []plot.Panel{{Title: "loss", XLabel: "step", LogY: true, Curves: []plot.Curve{{Y: losses}}}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = os.Stat(path)
	fmt.Println(err)
	// Output:
	// <nil>
}
