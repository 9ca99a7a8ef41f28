package ops

import "github.com/clgrad/clgrad/kernels"

// Indexed returns the functions of this package that read indices, for tests of their kernels.
func Indexed() []*kernels.Joined { return indexedTable }

var indexedTable []*kernels.Joined

// indexed returns functions that read indices as one of several results, see [Indexed].
func indexed(functions ...*kernels.Function) *kernels.Joined {
	j := &kernels.Joined{Name: functions[0].Name, Functions: functions}
	indexedTable = append(indexedTable, j)
	return j
}
