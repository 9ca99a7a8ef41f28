//go:build opencl && cgo

package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/selftestargs"
	"github.com/clgrad/clgrad/kernels"
)

// matrixUnits builds a product by an inner product when it is first asked for that, and compares it
// with the host kernel: a device has the units if its driver builds their instructions, and they
// compute what they should.
func (d *clDevice) matrixUnits(inner ops.Inner) bool {
	if !d.ptx {
		return false
	}
	if has, known := d.units.Load(inner); known {
		return has.(bool)
	}
	has := d.probe(inner)
	d.units.Store(inner, has)
	return has
}

func (d *clDevice) probe(inner ops.Inner) bool {
	if len(ops.MatrixTiles(inner, kernels.Float32, d.target)) == 0 {
		return false
	}
	k := ops.MatrixProbe(inner)
	e, err := d.entries.get(k, kernels.Float32)
	if err != nil {
		return false
	}
	if d.trials != nil {
		return d.agrees(e.built, k, kernels.Float32, d.target, 0, nil) == nil
	}
	for _, o := range operandsOf(k, func() ([]*kernels.Operands, error) {
		return selftestargs.Small(k,
			kernels.Float32)
	}) {
		if ran, err := d.compare(e.built, k, kernels.Float32, d.target, o); !ran || err != nil {
			return false
		}
	}
	return true
}
