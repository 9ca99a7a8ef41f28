package nn

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// String returns the table: a row for each layer, and what they come to.
func (s *ModelSummary) String() string {
	rows := [][]string{{"Layer", "Type", "Output shape", "Params", "FLOPs", "Activations"}}
	for _, l := range s.Layers {
		name := l.Path
		if name == "" {
			name = "(model)"
		}
		output := "-"
		switch {
		case !l.Ran:
			output = "not run"
		case len(l.Outputs) > 0:
			output = strings.Trim(fmt.Sprint(l.Outputs), "[]")
			output = strings.ReplaceAll("["+output+"]", "] [", "], [")
		}
		params := count(l.Params)
		if l.Params > 0 && l.Trainable == 0 {
			params += " (frozen)"
		} else if l.Trainable < l.Params {
			params += fmt.Sprintf(" (%s frozen)", count(l.Params-l.Trainable))
		}
		if l.Calls > 1 {
			output += fmt.Sprintf(" ×%d", l.Calls)
		}
		rows = append(rows, []string{strings.Repeat("  ", l.Depth) + name, l.Type, output, params, scaled(l.FLOPs, ""), scaled(float64(l.Activations), "B")})
	}
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	total := 2 * (len(width) - 1)
	for _, w := range width {
		total += w
	}
	double, single := strings.Repeat("=", total)+"\n", strings.Repeat("-", total)+"\n"
	var b strings.Builder
	b.WriteString(double)
	for i, r := range rows {
		line := ""
		for k, cell := range r {
			pad := strings.Repeat(" ", width[k]-utf8.RuneCountInString(cell))
			if k < 3 {
				line += cell + pad + "  "
			} else {
				line += pad + cell + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if i == 0 {
			b.WriteString(single)
		}
	}
	b.WriteString(double)
	fmt.Fprintf(&b, "Params: %s, trainable %s, frozen %s\n", commas(s.Params), commas(s.Trainable), commas(s.Params-s.Trainable))
	fmt.Fprintf(&b, "FLOPs: %s (a multiply-add is two)\n", scaled(s.FLOPs, ""))
	fmt.Fprintf(&b, "Memory: input %s, activations %s, parameters %s\n", scaled(float64(s.InputBytes), "B"),
		scaled(float64(s.Activations), "B"), scaled(float64(s.ParamBytes), "B"))
	b.WriteString(double)
	return b.String()
}

// count is commas, but "-" for 0.
func count(n int) string {
	if n == 0 {
		return "-"
	}
	return commas(n)
}

// commas returns a number with commas: "1,234,567".
func commas(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// scaled returns a number of a unit in three digits, "-" for 0: "4.12 MB".
func scaled(x float64, unit string) string {
	if x == 0 {
		return "-"
	}
	prefix := []string{"", "k", "M", "G", "T", "P"}
	i := 0
	for ; x >= 999.5 && i < len(prefix)-1; i++ {
		x /= 1000
	}
	return strings.TrimSpace(fmt.Sprintf("%.3g %s%s", x, prefix[i], unit))
}
