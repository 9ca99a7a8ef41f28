package devices

import (
	"fmt"
	"runtime"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/spf13/cobra"
)

// Built says how this program was built, for its version.
func Built() string {
	if OpenCLBuilt {
		return "with OpenCL"
	}
	return "without OpenCL"
}

// listOpenCL returns what is known of OpenCL; the error says that this build has none.
func listOpenCL() (*openCL, error) {
	if _, err := probeLimit(); err != nil {
		return nil, err
	}
	if err := clrt.CheckLibrary(); err != nil {
		return nil, err
	}
	if !OpenCLBuilt {
		_, err := clrt.List()
		return nil, err
	}
	c := checkedOpenCL()
	return c, c.err
}

// NewList returns the command that lists the devices.
func NewList() *cobra.Command {
	return &cobra.Command{
		Use:   "devices",
		Short: "List the devices that --device can name",
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "cpu   Go, %d threads\n", runtime.GOMAXPROCS(0))
			var infos []clrt.Info
			c, err := listOpenCL()
			if err == nil {
				infos, err = c.devices()
			}
			for _, i := range infos {
				double := ""
				if i.FP64 {
					double = ", float64"
				}
				fmt.Fprintf(w, "%-5s %s: %s, %d units, %.1f GiB%s\n      %s, driver %s\n", i.ID(), i, i.Type, i.ComputeUnits,
					float64(i.GlobalMem)/(1<<30), double, i.Version, i.Driver)
				if why, unfit := c.unfit[deviceKey(i)]; unfit {
					fmt.Fprintf(w, "      cannot be used: %s\n", why)
				}
			}
			switch {
			case err != nil:
				fmt.Fprintf(w, "no OpenCL devices: %s\n", cli.Sentence(err))
			case len(infos) == 0 && clrt.CacheProblem() != "":
				fmt.Fprintf(w, "no OpenCL devices: %s\n", clrt.CacheProblem())
			default:
				for _, b := range c.broken {
					fmt.Fprintf(w, "left out %s\n", b)
				}
			}
			return nil
		},
	}
}
