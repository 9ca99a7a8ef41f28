// Package catalog compares each operation with the numbers that PyTorch gives, and makes
// docs/operations.md of the table of package operations and the errors. It consists of tests.
//
// An operation has a row in the file of its family, FAMILY_test.go: its name and its cases.
// Element-wise functions need none but their scalars, in elementwise_test.go. A case is a function
// of nodes. Its operands, results and gradients lie in testdata/references/FAMILY.txt, an array a
// line. scripts/references makes that file: in FAMILY.py there, case(operation, case, function,
// operands…) has the same function in PyTorch. "make generate" adds the cases that are new, with
// PyTorch or by a formula in NumPy, and writes docs/operations.md.
//
// Each operation has at least one case of an awkward shape and one of special values. Of an operand
// that PyTorch gave a gradient, the gradient is compared too; values are weighted by numbers that
// were drawn for the case.
package catalog
