package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/spf13/cobra"
)

func newInfo() *cobra.Command {
	var asJSON bool
	var memory memory
	cmd := &cobra.Command{
		Use:   "info MODEL",
		Short: "Say what a model file or a checkpoint holds",
		Long: `info prints what a model is: the image it was trained on, its encoding, its layers, how many weights it has
and how they are stored, and how many bytes the file takes for each pixel of the image. MODEL is - for
standard input.`,
		Args: cli.Exactly("the model to look at"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return info(cmd.Context(), args[0], &memory, asJSON, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	memory.register(cmd.Flags())
	return cmd
}

func info(ctx context.Context, path string, memory *memory, asJSON bool, w io.Writer) error {
	raw, err := memory.read(ctx, path)
	if err != nil {
		return err
	}
	about, err := memory.bounds().Inspect(raw)
	if err != nil {
		return memory.explain(path, err)
	}
	bpp := bitsPerPixel(len(raw), about.Width, about.Height)
	if asJSON {
		return json.NewEncoder(w).Encode(struct {
			*imagefit.About
			Bytes        int     `json:"bytes"`
			BitsPerPixel float64 `json:"bits_per_pixel"`
		}{about, len(raw), bpp})
	}
	kind := "model"
	if about.Checkpoint != nil {
		kind = "checkpoint"
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "file\t%s, %s, format %d\n", cli.OneLine(path), kind, about.Format)
	fmt.Fprintf(t, "image\t%d×%d pixels, %v\n", about.Width, about.Height, about.Colour)
	fmt.Fprintf(t, "encoding\t%s\n", about.Encoding)
	fmt.Fprintf(t, "network\t%d hidden layers of %d, %s %v\n", about.Network.Layers, about.Network.Hidden, about.Network.Activation, about.Network.Parameter)
	fmt.Fprintf(t, "trained\t%d steps\n", about.Steps)
	fmt.Fprintf(t, "weights\t%d, stored as %s\n", about.Params, about.Weights)
	fmt.Fprintf(t, "size\t%d bytes, %s bits per pixel\n", len(raw), formatBits(bpp))
	if c := about.Checkpoint; c != nil {
		fmt.Fprintf(t, "made on\t%s\n", c.Device)
		fall := "to 0 at the last step"
		if c.Config.Schedule == imagefit.Exponential {
			fall = fmt.Sprintf("× %v per step", c.Config.LRDecay)
		}
		fmt.Fprintf(t, "settings\tbatch %d, loss %s, learning rate %v %s, seed %d, at most %d steps\n", c.Config.Batch, c.Config.Loss,
			c.Config.LR, fall, c.Config.Seed, c.Config.Steps)
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "array\tshape\tweights\tstored as")
	for _, a := range about.Arrays {
		fmt.Fprintf(t, "%s\t%v\t%d\t%s\n", a.Name, a.Shape, a.Weights, a.Type)
	}
	return t.Flush()
}
