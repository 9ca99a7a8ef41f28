// Code generated from internal/operations/table/values.go by "make generate". DO NOT EDIT.

package autograd

import "github.com/clgrad/clgrad/tensor"

// Device returns the device that the elements are on.
func (x *Node) Device() tensor.Device { return x.must("Device").Device() }

// Type returns the type of the elements.
func (x *Node) Type() tensor.Type { return x.must("Type").Type() }

// Shape returns the dimensions. The caller must not change them.
func (x *Node) Shape() []int { return x.must("Shape").Shape() }

// Rank returns the number of axes.
func (x *Node) Rank() int { return x.must("Rank").Rank() }

// Len returns the number of elements.
func (x *Node) Len() int { return x.must("Len").Len() }

// Float64s waits for the device and returns the elements, of any type, in row-major order, in
// memory of the caller's. The error is the device's first failure. It panics with tensor.ErrFreed
// if the elements were freed, as Backward frees those of most nodes.
func (x *Node) Float64s() ([]float64, error) { return x.use("Float64s").Float64s() }

// Float32s is like Float64s, rounding to float32 what is a float64 or a large integer.
func (x *Node) Float32s() ([]float32, error) { return x.use("Float32s").Float32s() }

// Int32s waits for the device and returns the elements of an Int32 tensor in row-major order. It
// panics with tensor.ErrType for another type: convert it with [Node.To]. Package tensor's Read
// reads other types.
func (x *Node) Int32s() ([]int32, error) { return x.use("Int32s").Int32s() }

// Int64s is like Int32s, of an Int64 tensor.
func (x *Node) Int64s() ([]int64, error) { return x.use("Int64s").Int64s() }

// Uint8s is like Int32s, of a Uint8 tensor.
func (x *Node) Uint8s() ([]uint8, error) { return x.use("Uint8s").Uint8s() }

// Bools is like Int32s, of a Bool tensor.
func (x *Node) Bools() ([]bool, error) { return x.use("Bools").Bools() }

// Item waits for the device and returns the element of a tensor that has one, of any rank. The
// error is the device's first failure. It panics with tensor.ErrShape for more elements or none,
// and with tensor.ErrFreed as [Node.Float64s] does.
func (x *Node) Item() (float64, error) { return x.use("Item").Item() }
