// Code generated from internal/operations/table/values.go by "make generate". DO NOT EDIT.

package tensor

// Device returns the device that the elements are on.
func (x *Tensor) Device() Device { return x.st.dev }

// Type returns the type of the elements.
func (x *Tensor) Type() Type { return x.typ }

// Shape returns the dimensions. The caller must not change them.
func (x *Tensor) Shape() []int { return x.shape }

// Rank returns the number of axes.
func (x *Tensor) Rank() int { return len(x.shape) }

// Len returns the number of elements.
func (x *Tensor) Len() int { return x.len() }

// Float64s waits for the device and returns the elements, of any type, in row-major order, in
// memory of the caller's. The error is the device's first failure. It panics with ErrFreed if the
// elements were freed, as Backward frees those of most nodes.
func (x *Tensor) Float64s() ([]float64, error) { return downloadFloats[float64](x, "Float64s") }

// Float32s is like Float64s, rounding to float32 what is a float64 or a large integer.
func (x *Tensor) Float32s() ([]float32, error) { return downloadFloats[float32](x, "Float32s") }

// Int32s waits for the device and returns the elements of an Int32 tensor in row-major order. It
// panics with ErrType for another type: convert it with [Tensor.To]. Package tensor's Read reads
// other types.
func (x *Tensor) Int32s() ([]int32, error) { return downloadAs[int32](x, "Int32s") }

// Int64s is like Int32s, of an Int64 tensor.
func (x *Tensor) Int64s() ([]int64, error) { return downloadAs[int64](x, "Int64s") }

// Uint8s is like Int32s, of a Uint8 tensor.
func (x *Tensor) Uint8s() ([]uint8, error) { return downloadAs[uint8](x, "Uint8s") }

// Bools is like Int32s, of a Bool tensor.
func (x *Tensor) Bools() ([]bool, error) { return downloadAs[bool](x, "Bools") }

// Item waits for the device and returns the element of a tensor that has one, of any rank. The
// error is the device's first failure. It panics with ErrShape for more elements or none, and with
// ErrFreed as [Tensor.Float64s] does.
func (x *Tensor) Item() (float64, error) { return x.item() }
