//go:build linux

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

// Rows of less than leastTime of PyTorch's are not checked against limit.
const (
	leastTime = 20e-6
	limit     = 1.5
)

// String returns the line of a table.
func (r result) String() string {
	name := fmt.Sprintf("%-5s %d  %-36s %-7s %6.0e", r.Device, r.Cores, r.Row, r.Direction, float64(r.Elements))
	if r.Error != "" {
		return name + "  " + r.Error
	}
	return fmt.Sprintf("%s %12.1f %12.1f %8.2f", name, 1e6*r.Ours.seconds(r.Cores), 1e6*r.Theirs.seconds(r.Cores), r.Ratio)
}

// printFile prints the table of a file; of a row that was measured again, the last.
func printFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	type key struct {
		row, direction, device string
		elements, cores        int
	}
	last := map[key]result{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		last[key{r.Row, r.Direction, r.Device, r.Elements, r.Cores}] = r
	}
	if err := lines.Err(); err != nil {
		return err
	}
	var all []result
	for _, r := range last {
		all = append(all, r)
	}
	printTable(w, all)
	return nil
}

// printTable prints results, the worst ratio first, and what they come to on each device.
func printTable(w io.Writer, all []result) {
	slices.SortFunc(all, func(a, b result) int {
		return cmp.Or(-cmp.Compare(a.Ratio, b.Ratio), cmp.Compare(a.Row, b.Row), cmp.Compare(a.Direction, b.Direction),
			cmp.Compare(a.Elements, b.Elements), cmp.Compare(a.Device, b.Device), cmp.Compare(a.Cores, b.Cores))
	})
	fmt.Fprintf(w, "%-5s %s  %-36s %-7s %6s %12s %12s %8s\n", "", "C", "", "", "", "clgrad, us", "PyTorch, us", "ratio")
	type group struct {
		device string
		cores  int
	}
	ratios, above := map[group][]float64{}, map[group]int{}
	for _, r := range all {
		fmt.Fprintln(w, r)
		if r.Ratio == 0 || r.Theirs.seconds(r.Cores) < leastTime {
			continue
		}
		g := group{r.Device, r.Cores}
		ratios[g] = append(ratios[g], r.Ratio)
		if r.Ratio > limit {
			above[g]++
		}
	}
	groups := make([]group, 0, len(ratios))
	for g := range ratios {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Or(cmp.Compare(a.device, b.device), cmp.Compare(a.cores, b.cores)) })
	for _, g := range groups {
		fmt.Fprintf(w, "%s, %d cores: %d rows in which PyTorch takes %.0f us or more: median ratio %.2f, %d above %.1f\n",
			g.device, g.cores, len(ratios[g]), 1e6*leastTime, median(ratios[g]), above[g], limit)
	}
}
