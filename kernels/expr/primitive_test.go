package expr

import "testing"

// TestPrimitive: a formula is taken apart by names.
func TestPrimitive(t *testing.T) {
	x := Input(0).Add(Const(2))
	name, args := x.Primitive()
	if name != "add" || len(args) != 2 || !args[0].IsOperand(0) {
		t.Errorf("%v is %q of %v", x, name, args)
	}
	if v, ok := args[1].Constant(); v != 2 || !ok {
		t.Errorf("%v is the constant %v, %v", args[1], v, ok)
	}
	if _, ok := args[0].Constant(); ok {
		t.Errorf("%v is a constant", args[0])
	}
	if name, args := Param(0).Primitive(); name != "" || args != nil {
		t.Errorf("a parameter is %q of %v", name, args)
	}
}
