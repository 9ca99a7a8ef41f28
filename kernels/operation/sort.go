package operation

import "github.com/clgrad/clgrad/kernels"

// Sort sorts blocks of Rows, as torch.sort with stable=True does: block b of row r is the elements X[r, i] for i from
// b·Block to below min(Len, (b+1)·Block). The i of a block are put in the order of X[r, i], ascending, or from the
// greatest on if it is Descending: equal ones keep their order, both zeros are equal, and a NaN is greater than all
// others. With i number k of these, counted from 0,
//
//	Y[r, b, k] = X[r, i]     Order[r, b, k] = Index[r, i], or i if there is no Index
//
// for k below Keep. If it is a Median, k is 0, and i the first one of a NaN or, if there is none, number ⌊(n−1)/2⌋ of
// n.
//
// Views: X and Index by (r, i), Y and Order by (r, b, k). Index is not there if it has no Strides. Index and Order are
// of integers. Elements are moved bit by bit. Block is at least 1.
type Sort struct {
	Rows, Len, Block, Keep int
	Descending, Median     bool
	X, Index, Y, Order     kernels.View
}

// Views returns X and Index, and Y and Order.
func (s *Sort) Views() (reads, writes []kernels.View) {
	return present(s.X, s.Index), []kernels.View{s.Y, s.Order}
}

// AllViews returns all views, to be changed.
func (s *Sort) AllViews() []*kernels.View { return []*kernels.View{&s.X, &s.Index, &s.Y, &s.Order} }
