package expr

// Primitive returns the name of the primitive that x is, such as "add", and its arguments: "" for a leaf. Names are
// those that [Expr.String] prints, or the words for its signs.
func (x *Expr) Primitive() (name string, args []*Expr) {
	if l, _ := x.Leaf(); l != None {
		return "", nil
	}
	return primitives[x.op].name, x.args
}

// Constant returns the number that x is, and false if it is none.
func (x *Expr) Constant() (v float64, ok bool) { return x.value, x.op == opConst }
