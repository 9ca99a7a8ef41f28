package clrt

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	logPosition   = regexp.MustCompile(`([\w.-]+\.cl|<kernel>):(\d+)`)
	lineDirective = regexp.MustCompile(`^#line (\d+) "([^"]*)"`)
)

// buildDetail joins what a person needs to mend a failed build: the program, the options, the whole
// log, and the source lines that the log names. Positions count by the #line directives in the
// text; those of NVIDIA's compiler, in "<kernel>", by the lines of the whole text.
func buildDetail(name, options, text, log string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s with options %q:\n%s", name, options, log)
	lines := sourceLines(text)
	seen := map[string]bool{}
	for _, m := range logPosition.FindAllStringSubmatch(log, -1) {
		at := m[1] + ":" + m[2]
		if line, ok := lines[at]; ok && !seen[line] {
			seen[line] = true
			b.WriteString("\n" + line)
		}
	}
	return b.String()
}

// sourceLines indexes the lines of a program by "file:line" and by "<kernel>:line of the whole".
// Each is "file:line: text".
func sourceLines(text string) map[string]string {
	lines := map[string]string{}
	file, n, whole := "", 1, 0
	for line := range strings.Lines(text) {
		whole++
		if m := lineDirective.FindStringSubmatch(line); m != nil {
			n, _ = strconv.Atoi(m[1])
			file = m[2]
			continue
		}
		at := fmt.Sprintf("%s:%d", file, n)
		shown := at + ": " + strings.TrimRight(line, "\n")
		lines[at], lines[fmt.Sprintf("<kernel>:%d", whole)] = shown, shown
		n++
	}
	return lines
}
