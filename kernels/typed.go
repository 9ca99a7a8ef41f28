package kernels

// Of returns the form of a kernel for elements of type t, which moves them: k itself for floats, nil if
// there is none. It has the same parameters, with elements of [DType.Moved] for floats, and longs for
// floats by value, whose low bits are those of an element.
func (k *Kernel) Of(t DType) *Kernel {
	if t = t.Moved(); t == Float32 || t == Float64 {
		return k
	}
	return k.typed[t]
}

// Typed gives a kernel its forms for elements that are not floats, of which it takes the host kernels: for
// Int32, Uint8, Uint16 and Int64, in this order, the zero Host for a form that there is not. They are
// the entry point of that name in a file, built with ELEM as the element type.
func Typed(k *Kernel, file, name string, hosts ...HostKernel) *Kernel {
	for i, host := range hosts {
		t := [...]DType{Int32, Uint8, Uint16, Int64}[i]
		if host.F32 == nil {
			continue
		}
		form := *k
		form.Moves = true
		form.File, form.Name, form.Defines, form.Host = file, name, t.Define(), host
		form.GPU, form.Tol, form.Fusions, form.typed = "", Tolerance{}, nil, [dtypes]*Kernel{}
		form.Params = make([]Param, len(k.Params))
		for i, p := range k.Params {
			switch {
			case p.Mode == FloatParam:
				p.Mode = LongParam
			case p.Mode <= InOut:
				p.Mode = p.Mode.Of(t)
			}
			form.Params[i] = p
		}
		k.typed[t] = &form
	}
	return k
}

// Define is the compiler option that makes ELEM, which is REAL, another type. Kernels move a float of 16 bits as its bits.
func (t DType) Define() string { return "-DELEM=" + t.C() }

// C returns the type in OpenCL C that elements of type t are moved as.
func (t DType) C() string { return dtypeTable[t].c }
