package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/clgrad/clgrad/internal/cli"

	"github.com/spf13/cobra"
)

// modulePath is that of the library.
const modulePath = "github.com/clgrad/clgrad"

func newCFlags() *cobra.Command {
	return &cobra.Command{
		Use:   "cflags",
		Short: "Print what cgo needs to build a module with OpenCL",
		Long: `cflags prints the value of CGO_CFLAGS with which a module that uses clgrad is built with OpenCL: where the
headers lie of the version of clgrad that the module in this folder uses. It asks the go command.

	CGO_CFLAGS="$(clgrad cflags)" go build -tags opencl ./...
	go env -w CGO_CFLAGS="$(clgrad cflags)"

The second line sets it for all builds, until clgrad is of another version. Only the build needs it; the binary
loads OpenCL where it runs.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags, err := cflags()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), flags)
			return err
		},
	}
}

// cflags returns the flags for the module of the working folder.
func cflags() (string, error) {
	var out, failure bytes.Buffer
	list := exec.Command("go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", modulePath)
	list.Stdout, list.Stderr = &out, &failure
	switch err := list.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("cflags: there is no go command: %w", err)
	case err != nil:
		why, _, _ := strings.Cut(strings.TrimSpace(failure.String()), "\n")
		return "", fmt.Errorf("cflags: no module in this folder uses %s: change to yours, and run go get %s: %s", modulePath, modulePath, why)
	}
	include := filepath.Join(strings.TrimSpace(out.String()), "clrt", "include")
	if _, err := os.Stat(filepath.Join(include, "cl.h")); err != nil {
		return "", fmt.Errorf("cflags: %s is not downloaded: run go mod download %s: %w", modulePath, modulePath, err)
	}
	flag := "-I" + include
	if strings.ContainsAny(include, " \t") {
		flag = `"` + flag + `"`
	}
	return "-O2 -g -Wno-deprecated " + flag, nil // go-opencl imports cl.h with a directive that compilers warn of
}
