//go:build opencl && cgo

package clrt

import "github.com/samuel/go-opencl/cl"

// sharedContext is a context and what was built in it. Devices that are open on the same CPU share
// one: a driver takes long to load even a program that it keeps on disk. Each device of a GPU has
// its own, which a kernel that goes wrong ends.
type sharedContext struct {
	id       string // "": of one device
	context  *cl.Context
	devices  int // open
	keep     int // of these, those with Options.KeepPrograms
	programs map[programKey]*builtProgram
}

// builtProgram is a program and how many devices use it.
type builtProgram struct {
	program *cl.Program
	key     programKey
	devices int
	headers int // builds that needed PoCL's whole header: 1 or 0
}

// contexts are those that devices may share, by the ID of the device. The functions of this file read
// and write it, and what a context has: their callers hold runtimes.
var contexts = map[string]*sharedContext{}

// openContext returns a context for another device.
func openContext(info Info, device *cl.Device, keep bool) (*sharedContext, error) {
	id := ""
	if info.Type == CPU {
		id = info.ID()
	}
	c := contexts[id]
	if c == nil {
		context, err := cl.CreateContext([]*cl.Device{device})
		if err != nil {
			return nil, err
		}
		c = &sharedContext{id: id, context: context, programs: map[programKey]*builtProgram{}}
		if id != "" {
			contexts[id] = c
		}
	}
	c.devices++
	if keep {
		c.keep++
	}
	return c, nil
}

// leave ends the use of a program by a device, which has no kernel of it.
func (c *sharedContext) leave(p *builtProgram) {
	p.devices--
	c.unused(p)
}

// unused releases a program that no device uses, unless one keeps those that others may find.
func (c *sharedContext) unused(p *builtProgram) {
	if p.devices == 0 && (c.keep == 0 || c.programs[p.key] != p) {
		p.program.Release()
		delete(c.programs, p.key)
	}
}

// close ends the use of the context by a device, which uses no program.
func (c *sharedContext) close(keep bool) {
	c.devices--
	if keep {
		c.keep--
	}
	if c.keep == 0 {
		for _, p := range c.programs {
			c.unused(p)
		}
	}
	if c.devices == 0 {
		c.context.Release()
		delete(contexts, c.id)
	}
}
