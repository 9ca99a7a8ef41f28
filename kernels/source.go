package kernels

import "github.com/clgrad/clgrad/kernels/cl"

// Program returns the text that k is built from on a device: Text, or its file, after the files that it
// depends on. See package cl.
func (k *Kernel) Program(l Target) (string, error) {
	own := ""
	if k.Text != "" {
		own = k.TextOn(l)
	}
	return cl.Program(k.Source(l), own)
}

// TextOn returns the kernel's own text on a device: Text or GPUText.
func (k *Kernel) TextOn(l Target) string {
	if k.GPUText != "" && !l.CPU {
		return k.GPUText
	}
	return k.Text
}
