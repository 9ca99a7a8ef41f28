package main

import (
	"context"
	"fmt"
	"io"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/spf13/cobra"
)

func newRender() *cobra.Command {
	var device deviceFlags
	var out, size string
	cmd := &cobra.Command{
		Use:   "render MODEL.npz -o OUT.png",
		Short: "Draw a trained model",
		Long: `render evaluates a model that train wrote, at the size of the image it was trained on or at another. The
highest octaves of the encoding were trained at the pixels of that image only: between them, at larger
sizes, they show as noise.`,
		Example: `  mlpimage render photo.npz -o photo.png
  mlpimage render photo.npz -o small.png --size 128x96`,
		Args: exactly("the model to draw"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return render(cmd.Context(), args[0], out, size, device, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&out, "output", "o", "", "image to write (required)")
	fs.StringVar(&size, "size", "", "WIDTHxHEIGHT (default: that of the training image)")
	device.register(fs)
	return cmd
}

func render(ctx context.Context, path, out, size string, device deviceFlags, stdout, stderr io.Writer) error {
	if out == "" {
		return &usageError{fmt.Errorf("render needs -o OUT.png")}
	}
	width, height, err := parseSize(size)
	if err != nil {
		return &usageError{err}
	}
	if err := atomicfile.Check(out); err != nil {
		return fmt.Errorf("cannot write %s: %w", out, err)
	}
	d, err := device.open(stderr)
	if err != nil {
		return err
	}
	defer d.Close()
	m, err := imagefit.ReadModel(d, path)
	if err != nil {
		return err
	}
	if size == "" {
		width, height = m.Width, m.Height
	}
	img, err := m.Render(ctx, width, height)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(out, img.WritePNG); err != nil {
		return fmt.Errorf("write %s: %w", out, err)
	}
	fmt.Fprintf(stdout, "wrote %s: %dx%d\n", out, width, height)
	return nil
}

// parseSize reads "WxH"; "" is 0, 0.
func parseSize(s string) (width, height int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	var rest string
	n, _ := fmt.Sscanf(s+" ", "%dx%d%s", &width, &height, &rest)
	if n != 2 || width < 1 || height < 1 {
		return 0, 0, fmt.Errorf("--size %q: it must be WIDTHxHEIGHT, such as 640x480", s)
	}
	return width, height, nil
}
