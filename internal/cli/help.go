package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clgrad/clgrad/internal/terminal"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const groupKey = "group" // of a flag's annotations

// Group puts every flag that was registered so far and is in no group into one.
func Group(fs *pflag.FlagSet, title string) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[groupKey] == nil {
			_ = fs.SetAnnotation(f.Name, groupKey, []string{title}) // fails for names that are not there
		}
	})
}

// flagUsages returns the help on flags by group, in lines of a width. Those of no group come last.
func flagUsages(fs *pflag.FlagSet, titles []string, width int) string {
	var b strings.Builder
	for _, title := range append(slices.Clone(titles), "") {
		in := pflag.NewFlagSet("", pflag.ContinueOnError)
		in.SortFlags = false
		fs.VisitAll(func(f *pflag.Flag) {
			if g := f.Annotations[groupKey]; len(g) == 1 && g[0] == title || g == nil && title == "" {
				one := *f
				one.Usage = strings.ReplaceAll(f.Usage, "\n", " ") // the lines of the source are not those of the terminal
				in.AddFlag(&one)
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
		b.WriteString(in.FlagUsagesWrapped(width))
	}
	return strings.TrimRight(b.String(), "\n")
}

// wrap breaks the lines of a text at a width. Lines that begin with a space stay, and so do
// paragraphs.
func wrap(text string, width int) string {
	var b strings.Builder
	column := 0 // 0: at the start of a paragraph
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' {
			if column > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(line + "\n")
			column = 0
			continue
		}
		for _, word := range strings.Fields(line) {
			letters := utf8.RuneCountInString(word)
			switch {
			case column == 0:
			case column+1+letters > width:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += letters
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// mostColumns is the width of lines that are read well, whatever a terminal has.
const mostColumns = 100

// SetHelp makes the help of a command and of those below it show flags by group, in this order, in
// lines that fit the terminal.
func SetHelp(root *cobra.Command, stdout io.Writer, titles ...string) {
	width := min(terminal.Width(stdout), mostColumns)
	root.SetUsageFunc(func(cmd *cobra.Command) error { return usage(cmd.OutOrStderr(), cmd, titles, width) })
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", wrap(cmp.Or(cmd.Long, cmd.Short), width), cmd.UsageString()) // which remembers errors
	})
}

// usage writes how a command is called, and its examples, commands and flags. It is no template of
// cobra: a program that has text/template keeps every exported method of every type, six megabytes.
func usage(w io.Writer, cmd *cobra.Command, titles []string, width int) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if cmd.Runnable() {
		b.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n  " + cmd.CommandPath() + " [command]")
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n\nAvailable Commands:")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintf(&b, "\n  %-*s %s", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		b.WriteString("\n\n" + flagUsages(cmd.LocalFlags(), titles, width))
	}
	if cmd.HasAvailableInheritedFlags() {
		b.WriteString("\n\nGlobal Flags:\n" + strings.TrimRight(cmd.InheritedFlags().FlagUsages(), "\n"))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\nUse \"%s [command] --help\" for more information about a command.", cmd.CommandPath())
	}
	_, err := fmt.Fprintln(w, b.String())
	return err
}
