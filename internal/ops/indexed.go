package ops

import "github.com/clgrad/clgrad/kernels"

// Indexed returns the functions of this package that read indices, for tests of their kernels.
func Indexed() []*kernels.FusedElementwise { return indexedTable }

var indexedTable []*kernels.FusedElementwise

// indexed joins functions that read indices in one launch, under the name of the first, and lists them: see [Indexed].
func indexed(functions ...*kernels.Function) *kernels.FusedElementwise {
	j := &kernels.FusedElementwise{Name: functions[0].Name, Functions: functions}
	indexedTable = append(indexedTable, j)
	return j
}
