//go:build opencl && cgo

package tensor

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/selftestargs"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// openTried opens the OpenCL device under test with an empty memory of trials.
func openTried(t *testing.T, opt Options) *clDevice {
	t.Helper()
	sel := "opencl"
	for _, s := range strings.Split(os.Getenv("CLGRAD_TEST_DEVICES"), ",") {
		if s != "" && s != "cpu" {
			sel = s
		}
	}
	if os.Getenv("CLGRAD_TEST_DEVICES") == "cpu" {
		t.Skip("only cpu is under test")
	}
	if dir, err := os.UserCacheDir(); err == nil && os.Getenv("POCL_CACHE_DIR") == "" {
		t.Setenv("POCL_CACHE_DIR", filepath.Join(dir, "pocl", "kcache")) // it outlives this test, as PoCL expects
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dev, err := Open(sel, opt)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev.(*clDevice)
}

// double is a kernel whose entry point computes VALUE·x, where its host kernel computes 2x. It counts what
// the host kernel runs.
func double(defines string, hosts *int) *kernels.Kernel {
	return &kernels.Kernel{Name: "double_it", Text: `// @depends: common
kernel void double_it(IN(X), OUT(Y), int n) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = (VALUE) * X[X_off + i];
}`, Defines: defines,
		Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
		Grid:   func(a []kernels.Arg, l kernels.Target) kernels.Grid { return kernels.Grid1D(int(a[2].Int), l) },
		SelfTest: func(like []kernels.Arg) []kernels.Operand {
			n := 257
			if like != nil {
				n = int(like[2].Int)
			}
			return []kernels.Operand{selftest.Uniform(n, -1, 1), selftest.Output(n), selftest.Number(float64(n))}
		},
		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			*hosts++
			for i, v := range c.Floats(0) {
				c.Floats(1)[i] = 2 * v
			}
		}}}
}

func launchDouble(d Device, k *kernels.Kernel, n int) ([]float64, error) {
	x, y := Full(d, 3, n), Full(d, -1, n)
	Launch(d, k, x.Arg(), y.Arg(), kernels.IntArg(n))
	return y.Float64s()
}

// TestSelfTestRefuses: a kernel that is wrong, at any size or at the size asked for alone, is named
// before it has written anything, and one that is right, or says nothing about its operands, runs.
func TestSelfTestRefuses(t *testing.T) {
	for _, c := range []struct {
		name, defines string
		n             int
		blind, off    bool
		unlike        bool // its SelfTest has operands of a launch alone
		param         string
		size          int
	}{
		{name: "right", defines: "-DVALUE=2", n: 9},
		{name: "wrong", defines: "-DVALUE=3", n: 9, param: "Y", size: 257},
		{name: "wrong when large", defines: "-DVALUE=n>9000?3:2", n: 10000, param: "Y", size: 10000},
		{name: "wrong when larger than it is asked for", defines: "-DVALUE=n>9000?3:2", n: 9},
		{name: "wrong, and small launches are not said", defines: "-DVALUE=3", n: 9, unlike: true, param: "Y", size: 9},
		{name: "without operands", defines: "-DVALUE=3", n: 9, blind: true},
		{name: "switched off", defines: "-DVALUE=3", n: 9, off: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openTried(t, Options{SkipSelfTest: c.off})
			hosts := 0
			k := double(c.defines, &hosts)
			if c.blind {
				k.SelfTest = nil
			}
			if of := k.SelfTest; c.unlike {
				k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
					if like == nil {
						return nil
					}
					return of(like)
				}
			}
			v, err := launchDouble(d, k, c.n)
			if c.param == "" {
				want := 6.0
				if c.blind || c.off {
					want = 9
				}
				if err != nil || v[0] != want || v[c.n-1] != want {
					t.Fatalf("got %v, %v; want %v", v[0], err, want)
				}
				after, trusting := d.Stats(), openTried(t, Options{SkipSelfTest: true})
				k.Defines += " "
				launchDouble(trusting, k, c.n)
				plain := trusting.Stats()
				after.CompileTime, plain.CompileTime = 0, 0
				if after != plain {
					t.Errorf("a trial is seen in the device's counters: %+v, without it %+v", after, plain)
				}
				return
			}
			var bad *MiscompileError
			if !errors.As(err, &bad) || bad.Param != c.param || bad.Sizes[0] != c.size || bad.Index < 0 || bad.Got == bad.Want || bad.Kernel != k.Name {
				t.Fatalf("err = %v", err)
			}
			if strings.Contains(bad.Error(), "\n") || !strings.Contains(bad.Error(), k.Name) {
				t.Errorf("message %q", bad.Error())
			}
		})
	}
}

// TestSelfTestReplaces: a product whose tile is wrong is computed by another one.
func TestSelfTestReplaces(t *testing.T) {
	d := openTried(t, Options{})
	right := ops.Gemm(ops.NN, ops.GemmTiles(d.float, d.target)[0], nil)
	wrong := *right
	wrong.Text = "// @depends: common\nkernel void k_gemm_nn(IN(A), IN(B), IN(BIAS), OUT(C), int m, int n, int K, int lda, int ldb, int ldc, " +
		"int accumulate, int biased, int rows, int slice) { C[C_off] = 7; }"
	wrong.SelfTest = func([]kernels.Arg) []kernels.Operand {
		ops := []kernels.Operand{selftest.Uniform(16, -1, 1), selftest.Uniform(16, -1, 1), selftest.Uniform(4, 0, 0),
			selftest.Output(16)}
		for _, v := range []float64{4, 4, 4, 4, 4, 4, 0, 0, 12, 4} {
			ops = append(ops, selftest.Number(v))
		}
		return ops
	}
	const m, n, k = 5, 7, 3
	a, b, c := Full(d, 1, m, k), Full(d, 1, k, n), Empty(d, m, n)
	for range 2 { // the second launch finds the entry as the first left it
		Launch(d, &wrong, a.Arg(), b.Arg(), b.Arg(), c.Arg(), kernels.IntArg(m), kernels.IntArg(n), kernels.IntArg(k), kernels.IntArg(k), kernels.IntArg(n), kernels.IntArg(n),
			kernels.IntArg(0), kernels.IntArg(0), kernels.IntArg(12), kernels.IntArg(k))
		v, err := c.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range v {
			if x != k {
				t.Fatalf("element %d is %v, want %v", i, x, k)
			}
		}
	}
	e, err := d.entries.get(&wrong, d.float)
	if err != nil || e.replacement == nil || e.replacement == &wrong {
		t.Errorf("nothing took the place of the wrong tile: %v", err)
	}
}

// TestSelfTestCache: what succeeded is not tried again, on the same device and driver with the same
// source; a failure and a file that is damaged are no memory.
func TestSelfTestCache(t *testing.T) {
	d := openTried(t, Options{})
	path := d.trials.path
	tried := func(defines string) int {
		t.Helper()
		dev, err := Open(d.dev.Info().ID(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		hosts := 0
		launchDouble(dev, double(defines, &hosts), 9)
		launchDouble(dev, double(defines, &hosts), 8) // the same size class
		return hosts
	}
	for i, c := range []struct {
		defines string
		want    int
		damage  string
	}{{"-DVALUE=2", 1, ""}, {"-DVALUE=2", 0, ""}, {"-DVALUE=2.0f", 1, ""}, {"-DVALUE=2", 0, ""}, {"-DVALUE=3", 1, ""}, {"-DVALUE=3", 1, ""},
		{"-DVALUE=2", 1, "\x00\xffnonsense\n0123\n"}, {"-DVALUE=2", 0, ""}} {
		if c.damage != "" {
			if err := os.WriteFile(path, []byte(c.damage), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if n := tried(c.defines); n != c.want {
			t.Errorf("run %d, %s: the host kernel ran %d times, want %d", i, c.defines, n, c.want)
		}
	}
	if other := newSelfTestCache("another driver"); other.path == path || other.key("x") == d.trials.key("x") {
		t.Error("another driver has the memory of this one")
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if n := tried("-DVALUE=2"); n != 1 {
		t.Errorf("without its file the host kernel ran %d times, want 1", n)
	}
}

// TestSelfTestEnv: the environment switches trials off, and what it may hold is checked.
func TestSelfTestEnv(t *testing.T) {
	d := openTried(t, Options{})
	for value, want := range map[string]string{"off": "", "on": "", "0": "may be on or off"} {
		t.Setenv(SelfTestEnv, value)
		dev, err := Open(d.dev.Info().ID(), Options{})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: err = %v", value, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if on := dev.(*clDevice).trials != nil; on != (value == "on") {
			t.Errorf("%q: trials are on: %v", value, on)
		}
		dev.Close()
	}
}

// TestSelfTestsAgree: kernels of this module pass their trials, at small sizes and at larger ones, in
// every form, and their host kernels are run. To build them all takes PoCL minutes: scripts/test-more.sh
// does.
func TestSelfTestsAgree(t *testing.T) {
	if os.Getenv("CLGRAD_MORE") == "" {
		t.Skip("scripts/test-more.sh runs it")
	}
	for _, opt := range []Options{{}, {DefaultType: Float64}, {gpuKernels: true}} {
		d := openTried(t, opt)
		for _, k := range ops.All(d.float, d.target) {
			small, err := selftestargs.Small(k, d.float)
			if err != nil || len(small) == 0 {
				t.Errorf("%s has no small operands: %v", k.Name, err)
				continue
			}
			e, err := d.entries.get(k, d.float)
			if err != nil {
				t.Fatal(err)
			}
			args := small[len(small)-1].Args
			if err := d.try(k, d.float, e, 7, args); err != nil || e.replacement != nil {
				t.Errorf("%+v: %s: %v, replaced: %v", opt, k.Name, err, e.replacement != nil)
			}
		}
	}
}

// TestSelfTestMistakes: operands of a package's kernel that are no launch's are named in a typed
// panic, though its host kernel meets them in other goroutines, and the device continues.
func TestSelfTestMistakes(t *testing.T) {
	d := openTried(t, Options{})
	hosts := 0
	for _, c := range []struct {
		name, want string
		change     func(k *kernels.Kernel)
	}{
		{"too few", "2 operands for 3 parameters", func(k *kernels.Kernel) {
			k.SelfTest = func([]kernels.Arg) []kernels.Operand {
				return []kernels.Operand{selftest.Uniform(3, 0, 1), selftest.Output(3)}
			}
		}},
		{"a host kernel that panics", "its host kernel panics", func(k *kernels.Kernel) {
			k.Host.F32 = func(c kernels.HostArgs[float32]) {
				c.Parallel(1<<20, 1, func(lo, hi int) {
					if lo > 0 || runtime.GOMAXPROCS(0) == 1 {
						panic("no such element")
					}
				})
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := double("-DVALUE=2", &hosts)
			c.change(k)
			for range 2 {
				err := Try(func() { launchDouble(d, k, 9) })
				if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("err = %v", err)
				}
			}
		})
	}
	if v, err := launchDouble(d, double("-DVALUE=2", &hosts), 9); err != nil || v[0] != 6 {
		t.Errorf("afterwards: %v, %v", v, err)
	}
}

// TestSelfTestOfSteepSlopes: a slope above 1 magnifies what a sum is off by; that is no mistake of the
// device.
func TestSelfTestOfSteepSlopes(t *testing.T) {
	for _, opt := range []Options{{}, {Check: true}} {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		var d Device
		if opt.Check {
			var err error
			if d, err = Open(openTried(t, Options{}).dev.Info().ID(), opt); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
		} else {
			d = openTried(t, opt)
		}
		rng := kernels.NewOperands(kernels.Float32, 1, 2)
		rng.In(200*300, -1, 1).In(300*40, -1, 1)
		host := func(i int) []float32 {
			a := rng.Args[i]
			return kernels.Slice[float32](a.Buf.(*kernels.HostBuffer), a.Off, a.N)
		}
		y := Linear(New(d, host(0), 200, 300), New(d, host(1), 300, 40), nil, fn.LeakyReLU, 1e4)
		if _, err := y.Float32s(); err != nil {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}

// TestSelfTestOfHugeNumbers: numbers of a launch with which a float overflows on its way are no mistake
// of the device: it is tried with others, and check mode has the same infinities.
func TestSelfTestOfHugeNumbers(t *testing.T) {
	for _, opt := range []Options{{}, {Check: true}} {
		d, err := Open(openTried(t, Options{}).dev.Info().ID(), opt)
		if err != nil {
			t.Fatal(err)
		}
		rng := NewRNG(9)
		for _, c := range [][2]float64{{-1e38, 3e38}, {3e38, -3e38}, {1e-40, 2e-40}, {1e10, 1e10 + 1}, {0, math.Inf(1)}, {math.NaN(), 1}} {
			rng.Normal(d, c[0], c[1], 5000)
			rng.Uniform(d, c[0], c[1], 5000)
			Full(d, c[1], 5000).MulScalar(c[1]).AddScalar(c[0])
			if err := d.Sync(); err != nil {
				t.Fatalf("%+v: %v: %v", opt, c, err)
			}
		}
		d.Close()
	}
}
