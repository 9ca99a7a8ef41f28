package caller

import "testing"

// TestPackageOf: the package of a function, method, closure or instance.
func TestPackageOf(t *testing.T) {
	for function, want := range map[string]string{
		"main.main": "main",
		"github.com/clgrad/clgrad/tensor.(*Tensor).Free":      "github.com/clgrad/clgrad/tensor",
		"github.com/clgrad/clgrad/tensor.Scope.func1":         "github.com/clgrad/clgrad/tensor",
		"example.org/a.b/c.Read[example.org/d.T].func2":       "example.org/a.b/c",
		"github.com/clgrad/clgrad/autograd_test.TestWhoFreed": "github.com/clgrad/clgrad/autograd_test",
	} {
		if got := packageOf(function); got != want {
			t.Errorf("%s is of %q, want %q", function, got, want)
		}
	}
}
