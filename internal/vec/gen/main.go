// Command gen writes the assembly of package vec, and the Go declarations that belong to it, to the
// folder above.
package main

import (
	"log"
	"os"
	"path/filepath"
)

func main() {
	for name, text := range files() {
		if err := os.WriteFile(filepath.Join("..", name), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
