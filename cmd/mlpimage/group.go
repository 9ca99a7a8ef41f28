package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of flags in a command's help, in this order.
const (
	groupLearn  = "What to learn"
	groupStop   = "When to stop"
	groupWrite  = "What to write and show"
	groupDevice = "Device"
)

const groupKey = "group" // of a flag's annotations

// group puts every flag that was registered so far and is in no group into one.
func group(fs *pflag.FlagSet, title string) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[groupKey] == nil {
			_ = fs.SetAnnotation(f.Name, groupKey, []string{title}) // fails for names that are not there
		}
	})
}

// flagUsages returns the help on flags by group. Those of no group come last.
func flagUsages(fs *pflag.FlagSet) string {
	var b strings.Builder
	for _, title := range []string{groupLearn, groupStop, groupWrite, groupDevice, ""} {
		in := pflag.NewFlagSet("", pflag.ContinueOnError)
		in.SortFlags = false
		fs.VisitAll(func(f *pflag.Flag) {
			if g := f.Annotations[groupKey]; len(g) == 1 && g[0] == title || g == nil && title == "" {
				in.AddFlag(f)
			}
		})
		if !in.HasAvailableFlags() {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		if title != "" {
			b.WriteString(title + ":\n")
		} else {
			b.WriteString("Flags:\n")
		}
		b.WriteString(in.FlagUsages())
	}
	return strings.TrimRight(b.String(), "\n")
}

// groupFlags makes the help of a command and of those below it show flags by group.
func groupFlags(root *cobra.Command) {
	cobra.AddTemplateFunc("flagUsages", flagUsages)
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(),
		"Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{flagUsages .LocalFlags}}", 1))
}
