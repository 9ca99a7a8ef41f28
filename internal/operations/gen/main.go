// Command gen writes the methods of Tensor and Node that package operations makes of its table. It
// is run in the root of the module.
package main

import (
	"fmt"
	"os"

	"github.com/clgrad/clgrad/internal/operations"
)

func main() {
	files, err := operations.Files()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
