package ops

import "github.com/clgrad/clgrad/kernels"

// One parameter of a kernel, by what it does with it.

func in(name string) kernels.Param       { return kernels.Param{Name: name, Mode: kernels.In} }
func out(name string) kernels.Param      { return kernels.Param{Name: name, Mode: kernels.Out} }
func inOut(name string) kernels.Param    { return kernels.Param{Name: name, Mode: kernels.InOut} }
func inInts(name string) kernels.Param   { return kernels.Param{Name: name, Mode: kernels.InInts} }
func outInts(name string) kernels.Param  { return kernels.Param{Name: name, Mode: kernels.OutInts} }
func inBytes(name string) kernels.Param  { return kernels.Param{Name: name, Mode: kernels.InBytes} }
func intArg(name string) kernels.Param   { return kernels.Param{Name: name, Mode: kernels.IntParam} }
func floatArg(name string) kernels.Param { return kernels.Param{Name: name, Mode: kernels.FloatParam} }

// smallOnly is the SelfTest of a kernel that is tried with the operands of its cases alone: others are
// not comparable element by element.
func smallOnly([]kernels.Arg) []kernels.Operand { return nil }
