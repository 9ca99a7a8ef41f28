package tensor

import (
	"time"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
)

// goProgram is launches that the Go device runs again.
type goProgram struct {
	dev      *goDevice
	launches []capture.Launch
}

func (d *goDevice) prepare(launches []capture.Launch, _ func(string, time.Duration)) (capture.Program, error) {
	for _, l := range launches {
		onHost(l.Args)
	}
	return &goProgram{d, launches}, d.Err()
}

func (p *goProgram) Run() {
	for i := range p.launches {
		if l := &p.launches[i]; !l.Kernel.Grid(l.Args, p.dev.Target()).Empty() {
			p.dev.run(l.Kernel, l.Kernel.FloatOf(l.Args, p.dev.float), l.Args)
		}
	}
}

func (p *goProgram) Loop(n int) error {
	for range n {
		p.Run()
	}
	return p.dev.Err()
}

func (p *goProgram) Free() {}

// Capture returns what the device does for recordings. Package replay asks for it.
func (d *goDevice) Capture() capture.Device { return captureDevice{d} }

func (d *goDevice) as(b kernels.Buffer, t kernels.DType) kernels.Buffer {
	g := b.(*goBuffer)
	return &goBuffer{HostBuffer: *kernels.ViewAs(t, g.block.Memory, g.Len()*g.DType().Size()/t.Size()), dev: d, block: g.block}
}
