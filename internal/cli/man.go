package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// NewMan returns the command that writes the manual pages of a program, one of which is that of the
// command named.
func NewMan(program, command string) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: fmt.Sprintf(`man writes a manual page for the program and one for each command into a folder, which must exist. To read
one: man -l DIR/%s-%s.1`, program, command),
		Args: Exactly("the folder to write to"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err != nil {
				return err
			} else if !info.IsDir() {
				return fmt.Errorf("%s is not a folder", args[0])
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			if err := writePages(root, args[0]); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "wrote the manual pages to %s\n", args[0])
			return nil
		},
	}
}

// writePages writes the pages of a command and of those below it. GenManTree of cobra would leave
// half a page on a full disk.
func writePages(cmd *cobra.Command, dir string) error {
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := writePages(c, dir); err != nil {
			return err
		}
	}
	page := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	return atomicfile.Write(filepath.Join(dir, page), func(w io.Writer) error {
		return doc.GenMan(cmd, &doc.GenManHeader{Title: strings.ToUpper(cmd.Root().Name()), Section: "1", Source: "clgrad"}, w)
	})
}
