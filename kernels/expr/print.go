package expr

import (
	"fmt"
	"strconv"
)

// infix are the signs of primitives that are written between their arguments.
var infix = map[op]string{opAdd: "+", opSub: "-", opMul: "*", opDiv: "/", opLt: "<", opLe: "<=", opEq: "==", opAnd: "and", opOr: "or",
	opBitAnd: "&", opBitOr: "|", opBitXor: "^", opShiftLeft: "<<", opShiftRight: ">>"}

// String prints the formula: %0 is input 0 or an int that is, $0 parameter 0, i0 the index along
// axis 0. Of (%0 - %1), (a - b) are the brackets: there is no precedence.
func (x *Expr) String() string {
	switch x.op {
	case opOperand, opInt:
		return fmt.Sprintf("%%%d", x.index)
	case opScalar:
		return fmt.Sprintf("$%d", x.index)
	case opIndex:
		return fmt.Sprintf("i%d", x.index)
	case opConst:
		return strconv.FormatFloat(x.value, 'g', -1, 64)
	}
	return x.print((*Expr).String)
}
