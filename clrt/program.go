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
	program programKey
}

// builtProgram is a program and how many kernels of it are alive.
type builtProgram struct {
	program *cl.Program
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
	kernel, err := program.program.CreateKernel(entry)
	if err != nil {
		detail := fmt.Sprintf("%s has no kernel %q (names of OpenCL builtins cannot be kernel names)", src.Name, entry)
		return nil, d.fail("clCreateKernel", err, detail)
	}
	k := &Kernel{entry, kernel, src.key()}
	program.kernels++
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
	if p := d.programs[k.program]; p.kernels > 1 {
		p.kernels--
	} else {
		p.program.Release()
		delete(d.programs, k.program)
	}
}

func (d *Device) program(src Source) (*builtProgram, error) {
	key := src.key()
	if p, ok := d.programs[key]; ok {
		d.stats.ProgramCacheOK++
		return p, nil
	}
	start := time.Now()
	options := src.Options
	if d.opt.Rebuild {
		// Runtimes cache by source and options; a define that was never seen before misses.
		options += fmt.Sprintf(" -DCLRT_REBUILD=%d", start.UnixNano())
	}
	p, err := d.build(src, options)
	if err != nil {
		return nil, err
	}
	if src.Target != "" {
		if err := d.rebuild(p, src); err != nil {
			p.Release()
			return nil, err
		}
	}
	d.stats.Programs++
	d.stats.CompileNanos += time.Since(start).Nanoseconds()
	built := &builtProgram{program: p}
	d.programs[key] = built
	return built, nil
}

// build builds a source: for PoCL with the built-in functions that it names, unless it needs
// others.
func (d *Device) build(src Source, options string) (*cl.Program, error) {
	if d.info.Platform == poclPlatform {
		if words := wordsOf(src.Text); !needsHeader(words) {
			text, option := withBuiltins(src.Text, words)
			if p, err := d.buildText(src.Name, text, options+option); err == nil {
				return p, nil
			}
			d.stats.HeaderBuilds++
		}
	}
	return d.buildText(src.Name, src.Text, options)
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
