//go:build opencl && cgo

package clrt

// #include <stdlib.h>
// #include "cl.h"
import "C"

import (
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/samuel/go-opencl/cl"
)

// Source is the Text of a program in OpenCL C. Name stands for it in errors.
//
// With a Target, such as sm_90a, the program is built for NVIDIA's devices of that name alone,
// whose compiler knows no more of them than sm_90. A statement for the target is a comment of an
// asm statement, which the first build leaves in its PTX, with its operands. A second build of that
// PTX, from memory, takes it as a statement:
//
//	asm volatile("//sm_90a wgmma.fence.sync.aligned;" : : : "memory");
type Source struct {
	Name    string
	Text    string
	Options string // for the compiler: -D and the like
	Target  string // "": what the driver takes the device for
}

type programKey struct{ text, options, target string }

func (s Source) key() programKey { return programKey{s.Text, s.Options, s.Target} }

// Kernel is an entry point of a built program. It lives until Release, or as long as its device.
type Kernel struct {
	name    string
	kernel  *cl.Kernel
	program *usedProgram
}

// usedProgram is a program that a device uses, and how many kernels of it the device has.
type usedProgram struct {
	*builtProgram
	src     programKey // as the device knows it
	kernels int
}

// Kernel returns the entry point of a source, building the program unless this device has built the
// same text with the same options before. A failed build returns the whole log, the options and the
// lines that the log names.
func (d *Device) Kernel(src Source, entry string) (*Kernel, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, &Error{Call: "build " + src.Name, Status: ErrClosed, Device: d.info.String()}
	}
	runtimes.Lock()
	defer runtimes.Unlock()
	program, err := d.program(src)
	if err != nil {
		return nil, err
	}
	kernel, err := d.kernel(program, entry)
	if err != nil {
		d.unused(program)
		detail := fmt.Sprintf("%s has no kernel %q (names of OpenCL builtins cannot be kernel names)", src.Name, entry)
		return nil, d.fail("clCreateKernel", err, detail)
	}
	return kernel, nil
}

// kernel makes a kernel object of an entry point.
func (d *Device) kernel(p *usedProgram, entry string) (*Kernel, error) {
	kernel, err := p.program.CreateKernel(entry)
	if err != nil {
		return nil, err
	}
	k := &Kernel{entry, kernel, p}
	p.kernels++
	d.kernels[k] = struct{}{}
	return k, nil
}

// Release gives a kernel back, and its program with the last of its kernels. Launches under way are
// finished.
func (d *Device) Release(k *Kernel) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, alive := d.kernels[k]; !alive || d.closed { // Close releases all
		return
	}
	runtimes.Lock()
	defer runtimes.Unlock()
	delete(d.kernels, k)
	k.kernel.Release()
	k.program.kernels--
	d.unused(k.program)
}

// unused gives a program back of which the device has no kernel.
func (d *Device) unused(p *usedProgram) {
	if p.kernels == 0 {
		delete(d.programs, p.src)
		d.shared.leave(p.builtProgram)
	}
}

func (d *Device) program(src Source) (*usedProgram, error) {
	key := src.key()
	if p, ok := d.programs[key]; ok {
		d.stats.ProgramCacheOK++
		return p, nil
	}
	start := time.Now()
	if d.opt.Rebuild {
		// Runtimes cache by source and options; a define that was never seen before misses.
		src.Options += fmt.Sprintf(" -DCLRT_REBUILD=%d", start.UnixNano())
	}
	built, ok := d.shared.programs[src.key()]
	if !ok {
		var err error
		if built, err = d.build(src); err != nil {
			return nil, err
		}
		if !d.opt.Rebuild {
			d.shared.programs[built.key] = built
		}
	}
	built.devices++
	d.stats.Programs++
	d.stats.HeaderBuilds += built.headers
	d.stats.CompileNanos += time.Since(start).Nanoseconds()
	p := &usedProgram{builtProgram: built, src: key}
	d.programs[key] = p
	return p, nil
}

// build builds a source, for its target if it has one.
func (d *Device) build(src Source) (*builtProgram, error) {
	p, headers, err := d.buildSource(src)
	if err != nil {
		return nil, err
	}
	if src.Target != "" {
		if err := d.rebuild(p, src); err != nil {
			p.Release()
			return nil, err
		}
	}
	return &builtProgram{program: p, key: src.key(), headers: headers}, nil
}

// buildSource builds a source: for PoCL with the built-in functions that it names, unless it needs
// others. It returns how many builds needed its whole header.
func (d *Device) buildSource(src Source) (p *cl.Program, headers int, err error) {
	if d.info.Platform == poclPlatform {
		if words := wordsOf(src.Text); !needsHeader(words) {
			text, option := withBuiltins(src.Text, words)
			if p, err := d.buildText(src.Name, text, src.Options+option); err == nil {
				return p, 0, nil
			}
			headers = 1
		}
	}
	p, err = d.buildText(src.Name, src.Text, src.Options)
	return p, headers, err
}

func (d *Device) buildText(name, text, options string) (*cl.Program, error) {
	p, err := d.context.CreateProgramWithSource([]string{text})
	if err != nil {
		return nil, d.fail("clCreateProgramWithSource", err, name)
	}
	if status := d.compile(p, options); status != C.CL_SUCCESS {
		detail := buildDetail(name, options, text, d.buildLog(p))
		p.Release()
		return nil, &Error{Call: "clBuildProgram", Status: Status(status), Device: d.info.String(), Detail: detail}
	}
	return p, nil
}

// compile builds a program. BuildProgram of go-opencl panics where PoCL's log is longer than 4 KiB.
func (d *Device) compile(p *cl.Program, options string) C.cl_int {
	text := C.CString(options)
	defer C.free(unsafe.Pointer(text))
	return C.clBuildProgram(*programHandle(p), 0, nil, text, nil, nil)
}

// buildLog returns what a compiler wrote.
func (d *Device) buildLog(p *cl.Program) string {
	var size C.size_t
	id := deviceHandle(d.device)
	if C.clGetProgramBuildInfo(*programHandle(p), id, C.CL_PROGRAM_BUILD_LOG, 0, nil, &size) != C.CL_SUCCESS || size == 0 {
		return ""
	}
	log := make([]byte, size)
	if C.clGetProgramBuildInfo(*programHandle(p), id, C.CL_PROGRAM_BUILD_LOG, size, unsafe.Pointer(&log[0]), nil) != C.CL_SUCCESS {
		return ""
	}
	return strings.TrimRight(string(log), "\x00\n ")
}
