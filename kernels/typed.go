package kernels

// Of returns the form of a kernel for elements of type t: k itself for reals, nil if there is none.
// It has the same parameters, with elements of type t for reals and ints for reals by value.
func (k *Kernel) Of(t DType) *Kernel {
	if t == Float32 || t == Float64 {
		return k
	}
	return k.typed[t.Stored()]
}

// Typed gives a kernel its forms for elements that are not reals, of which it takes the twins: for
// Int32, Uint8, Float16 and BFloat16, in this order. They are the entry point of that name in a file,
// built with ELEM as the element type.
func Typed(k *Kernel, file, name string, twins ...Twin) *Kernel {
	for i, twin := range twins {
		t := [...]DType{Int32, Uint8, Float16, BFloat16}[i]
		form := *k
		form.File, form.Name, form.Defines, form.Twin = file, name, t.define(), twin
		form.GPU, form.Tol, form.Together, form.Terms, form.Rows, form.typed = "", Tolerance{}, nil, nil, nil, [dtypes]*Kernel{}
		form.Params = make([]Param, len(k.Params))
		for i, p := range k.Params {
			switch {
			case p.Mode == FloatParam:
				p.Mode = IntParam
			case p.Mode <= InOut:
				p.Mode = p.Mode.of(t)
			}
			form.Params[i] = p
		}
		k.typed[t] = &form
	}
	return k
}

// define makes ELEM, which is REAL, another type. Kernels move a float of 16 bits as its bits.
func (t DType) define() string { return "-DELEM=" + t.elem() }

// elem is the type in OpenCL C that elements of type t are moved as.
func (t DType) elem() string {
	return [dtypes]string{Float32: "REAL", Float64: "REAL", Int32: "int", Uint8: "uchar", Float16: "ushort", BFloat16: "ushort"}[t]
}
