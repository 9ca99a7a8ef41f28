package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestTableColumns: an image that failed, or is left, does not move the columns of those after it.
func TestTableColumns(t *testing.T) {
	psnr := 43.21
	done := row{Image: "a.png", State: "done", PSNR: &psnr, Width: 90, Height: 60, Steps: 600}
	after := done
	after.Image = "z.png"
	b := &batchRun{rows: []row{done, {Image: "bad.png", State: "failed", Error: "a long sentence that says why it failed, and what to do"},
		{Image: "c.png", State: "left"}, after}}
	var text bytes.Buffer
	if err := b.printTable(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	for _, column := range [][2]string{{"pixels", "90x60"}, {"PSNR", "43.21 dB"}, {"steps", "600"}} {
		at := strings.Index(lines[0], column[0])
		for _, line := range []string{lines[1], lines[4]} {
			if !strings.HasPrefix(line[at:], column[1]+" ") {
				t.Errorf("%s is not below %s in\n%s", column[1], column[0], &text)
			}
		}
	}
	if !strings.Contains(lines[2], b.rows[1].Error) || !strings.Contains(lines[3], "left") {
		t.Errorf("the table says\n%s", &text)
	}
}
