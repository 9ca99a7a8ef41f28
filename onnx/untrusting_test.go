package onnx

// Untrusting is Shapes without what the file says of values that nodes make.
func (m *Model) Untrusting(sizes map[string]int) *Shapes {
	f := newInferer(m, dimsByName(sizes))
	f.trusting = false
	return m.shapes(f)
}
