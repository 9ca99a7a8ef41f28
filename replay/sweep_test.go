package replay_test

import "os"

// sweep reports whether tests make as many random programs as `make sweep` wants: minutes of them. The kernels of each are built.
func sweep() bool { return os.Getenv("CLGRAD_SWEEP") != "" }
