//go:build ignore

package table

// What is read of a value. It is no operation, and part of no graph.

// Device returns the device that the elements are on.
//
//op:tensor x.st.dev
//op:autograd x.must("Device").Device()
func (x T) Device() tensor.Device

// Type returns the type of the elements.
//
//op:tensor x.typ
//op:autograd x.must("Type").Type()
func (x T) Type() tensor.Type

// Shape returns the dimensions. The caller must not change them.
//
//op:tensor x.shape
//op:autograd x.must("Shape").Shape()
func (x T) Shape() []int

// Rank returns the number of axes.
//
//op:tensor len(x.shape)
//op:autograd x.must("Rank").Rank()
func (x T) Rank() int

// Len returns the number of elements.
//
//op:autograd x.must("Len").Len()
func (x T) Len() int

// Float64s waits for the device and returns the elements, of any type, in row-major order, in
// memory of the caller's. The error is the device's first failure. It panics with ErrFreed if the
// elements were freed, as Backward frees those of most nodes.
//
//op:tensor downloadFloats[float64](x, "Float64s")
//op:value
func (x T) Float64s() ([]float64, error)

// Float32s is like Float64s, rounding to float32 what is a float64 or a large integer.
//
//op:tensor downloadFloats[float32](x, "Float32s")
//op:value
func (x T) Float32s() ([]float32, error)

// Int32s waits for the device and returns the elements of an Int32 tensor in row-major order. It
// panics with ErrType for another type: convert it with [Tensor.To]. Package tensor's Read reads other types.
//
//op:tensor downloadAs[int32](x, "Int32s")
//op:value
func (x T) Int32s() ([]int32, error)

// Int64s is like Int32s, of an Int64 tensor.
//
//op:tensor downloadAs[int64](x, "Int64s")
//op:value
func (x T) Int64s() ([]int64, error)

// Uint8s is like Int32s, of a Uint8 tensor.
//
//op:tensor downloadAs[uint8](x, "Uint8s")
//op:value
func (x T) Uint8s() ([]uint8, error)

// Bools is like Int32s, of a Bool tensor.
//
//op:tensor downloadAs[bool](x, "Bools")
//op:value
func (x T) Bools() ([]bool, error)

// Item waits for the device and returns the element of a tensor that has one, of any rank. The
// error is the device's first failure. It panics with ErrShape for more elements or none, and with
// ErrFreed as [Tensor.Float64s] does.
//
//op:value
func (x T) Item() (float64, error)
