package tensor_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// A device, tensors on it, and what comes back to the host.
func Example() {
	d, err := tensor.Open("cpu") // "auto" takes the fastest there is
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()

	x := tensor.New(d, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	centred := x.Sub(x.Mean(-1, tensor.Keepdims)) // broadcasts
	fmt.Println(centred.Float32s())
	fmt.Println(x.T().Slice(0, 1, tensor.End).Square().Sum(0).Float32s())
	// Output:
	// [-1 0 1 -1 0 1] <nil>
	// [13 61] <nil>
}

// Devices have one spelling wherever one is chosen; settings that nobody gives are off.
func ExampleOpen() {
	d, err := tensor.Open("cpu", tensor.Options{DefaultType: tensor.Float64})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	fmt.Println(d.DefaultType())

	_, err = tensor.Open("cpu", tensor.Options{Check: true})
	fmt.Println(err)
	// Output:
	// float64
	// tensor: check mode compares an OpenCL device with Go code, and cpu is that code: choose another device
}

// A tensor prints as in NumPy, below what it is.
func ExampleTensor_String() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	x := tensor.New(d, []float32{0.5, 1, 1.5, 2, 2.5, 3}, 2, 3)
	_, numbers, _ := strings.Cut(x.String(), "\n") // the first line names the device
	fmt.Println(numbers)
	// Output:
	// [[0.5 1.  1.5]
	//  [2.  2.5 3. ]]
}

// What a Scope made is freed at its end, but for what is kept.
func ExampleScope() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	x := tensor.New(d, []float32{3, 4})
	var norm, inside *tensor.Tensor
	tensor.Scope(d, func() {
		inside = x.Square()
		norm = inside.Sum().Sqrt().Retain()
	})
	fmt.Println(norm.Item())
	fmt.Println(inside)
	// Output:
	// 5 <nil>
	// tensor [2] of float32 (freed)
}

// A kernel of one's own: its source in OpenCL C, and the same in Go for devices without OpenCL.
func ExampleLaunch() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	reverse := &kernels.Kernel{
		Name: "reverse",
		Text: `// @depends: common
kernel void reverse(IN(X), OUT(Y), int n) {
	int i = get_global_id(0);
	if (i < n) Y[Y_off + i] = X[X_off + n - 1 - i];
}`,
		Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
		Grid:   kernels.GridFromArg(2),
		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			x, y := c.Floats(0), c.Floats(1)
			for i := range y {
				y[i] = x[len(x)-1-i]
			}
		}},
	}
	x := tensor.New(d, []float32{1, 2, 3})
	y := tensor.Empty(d, 3)
	tensor.Launch(d, reverse, x.Arg(), y.Arg(), kernels.IntArg(3))
	fmt.Println(y.Float32s())

	err = tensor.Try(func() { tensor.Launch(d, reverse, x.Arg(), y.Arg()) })
	fmt.Println(err)
	// Output:
	// [3 2 1] <nil>
	// tensor: Launch: argument does not fit the kernel: reverse: takes 3 arguments (X, Y, n), not 2
}

func ExampleTensor_MatMul() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	a := tensor.New(d, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	c := a.MatMul(a.T())
	v, err := c.Float32s()
	fmt.Println(c.Shape(), v, err)
	// Output: [2 2] [14 32 32 77] <nil>
}

// Reductions drop their axes, or keep them at 1.
func ExampleTensor_Sum() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	x := tensor.New(d, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	for _, y := range []*tensor.Tensor{x.Sum(), x.Sum(0), x.Sum(-1, tensor.Keepdims)} {
		v, err := y.Float32s()
		fmt.Println(y.Shape(), v, err)
	}
	// Output:
	// [] [21] <nil>
	// [3] [5 7 9] <nil>
	// [2 1] [6 15] <nil>
}

// Slices, steps and single indices are views: what is written through one is seen in the whole.
func ExampleTensor_Slice() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	x := tensor.New(d, []float32{0, 1, 2, 3, 4, 5, 6, 7}, 2, 4)
	fmt.Println(x.Slice(1, -2, tensor.End).Float32s()) // x[:, -2:]
	fmt.Println(x.Step(1, 3).Float32s())               // x[:, ::3]
	fmt.Println(x.Select(0, -1).Float32s())            // x[-1]
	x.Select(1, 0).SetInPlace(tensor.Full(d, 9, 2))    // x[:, 0] = 9
	fmt.Println(x.Float32s())
	// Output:
	// [2 3 6 7] <nil>
	// [0 3 4 7] <nil>
	// [4 5 6 7] <nil>
	// [9 1 2 3 9 5 6 7] <nil>
}

// Files of Python's package safetensors, with metadata.
func ExampleSaveSafetensors() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "weights.safetensors")
	w := tensor.New(d, []float32{1, 2, 3, 4}, 2, 2)
	if err := tensor.SaveSafetensors(path, tensor.Dict{"w": w}, tensor.SafetensorsOptions{Metadata: map[string]string{"format": "pt"}}); err != nil {
		log.Fatal(err)
	}
	loaded, metadata, err := tensor.LoadSafetensors(d, path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loaded["w"].Shape(), metadata)
	// Output: [2 2] map[format:pt]
}

// NumPy's archives: numpy.load reads what SaveNPZ writes, and LoadNPZ what numpy.savez does.
func ExampleSaveNPZ() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	dir, err := os.MkdirTemp("", "clgrad")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "weights.npz")
	if err := tensor.SaveNPZ(path, tensor.Dict{"w": tensor.New(d, []float32{1, 2, 3, 4}, 2, 2)}); err != nil {
		log.Fatal(err)
	}
	loaded, err := tensor.LoadNPZ(d, path)
	if err != nil {
		log.Fatal(err)
	}
	v, err := loaded["w"].Float32s()
	fmt.Println(loaded["w"].Shape(), v, err)
	// Output: [2 2] [1 2 3 4] <nil>
}

// A damaged archive is an error, and leaves no tensor behind.
func ExampleReadNPZ() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	var file bytes.Buffer
	if err := tensor.WriteNPZ(&file, tensor.Dict{"w": tensor.Zeros(d, 3)}); err != nil {
		log.Fatal(err)
	}
	half := file.Bytes()[:file.Len()/2]
	_, err = tensor.ReadNPZ(d, bytes.NewReader(half), int64(len(half)))
	fmt.Println(err != nil, d.Err())
	// Output: true <nil>
}

// Misuse panics with an *Error, which says what was given and what to do.
func ExampleMaybe() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	err = tensor.Try(func() { tensor.Zeros(d, 2, 3).MatMul(tensor.Zeros(d, 4, 5)) })
	fmt.Println(err)
	// Output: tensor: MatMul: shape mismatch [2 3] [4 5]: the rows of the first have 3 elements, and the columns of the second 4
}
