// Package defs has what operations compute, each once, as programs of package ir: with its gradient
// where that has a form of its own that is faster or more exact than the derived one. Tests compare
// the two. A definition prints as what it says:
//
//	fmt.Print(defs.Softmax())
package defs
