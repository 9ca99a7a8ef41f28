package vec

// Formula is a function that is made of others. Its loop gives the bits that those of its steps
// give, one after the other.
type Formula struct {
	Function
	Steps []Step
}

// Step is a function of the operands of a formula, of earlier steps and of numbers. The last one is
// the formula.
type Step struct {
	Function
	Args []Value
}

// Value is what a step takes.
type Value struct {
	Kind   Kind
	Index  int // of the operand or the step
	Number float64
}

// Kind says what a Value is.
type Kind uint8

// The kinds of values.
const (
	OfOperand Kind = iota
	OfStep
	OfNumber
)
