package autograd

import "github.com/clgrad/clgrad/tensor"

// What is read of a value, under the names of package tensor. None of it is part of a graph.

// Device returns the device that the value is on.
func (n *Node) Device() tensor.Device {
	n.must("Device")
	return n.value.Device()
}

// Type returns the element type of the value.
func (n *Node) Type() tensor.Type {
	n.must("Type")
	return n.value.Type()
}

// Shape returns the dimensions of the value. The caller must not change them.
func (n *Node) Shape() []int {
	n.must("Shape")
	return n.value.Shape()
}

// Rank returns the number of axes of the value.
func (n *Node) Rank() int {
	n.must("Rank")
	return n.value.Rank()
}

// Len returns the number of elements of the value.
func (n *Node) Len() int {
	n.must("Len")
	return n.value.Len()
}

// Float64s waits for the device and returns the elements of the value in row-major order. The error
// is the device's first failure. It panics with tensor.ErrFreed after a Backward that freed the
// value.
func (n *Node) Float64s() ([]float64, error) { return n.use("Float64s").Float64s() }

// Float32s is like Float64s, rounding to float32 on a float64 device.
func (n *Node) Float32s() ([]float32, error) { return n.use("Float32s").Float32s() }

// Int32s is like Float64s, of an Int32 value. It panics with tensor.ErrType for another type.
func (n *Node) Int32s() ([]int32, error) { return n.use("Int32s").Int32s() }

// Uint8s is like Int32s, of a Uint8 value.
func (n *Node) Uint8s() ([]uint8, error) { return n.use("Uint8s").Uint8s() }

// Item waits for the device and returns the value of a node of one element, of any rank. The error
// is the device's first failure. It panics with tensor.ErrShape for more elements or none, and with
// tensor.ErrFreed after a Backward that freed the value.
func (n *Node) Item() (float64, error) { return n.use("Item").Item() }
