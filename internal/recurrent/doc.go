// Package recurrent computes the states of recurrent layers at all times in one launch, for packages nn and onnx.
//
// With what the input gives the gates, x [time, batch, gates·hidden], and the state before, h, a step is
//
//	tanh     h' = tanh(x + h·W + b)
//	GRU      r, z = σ(x + h·W + b);  n = tanh(x_n + r·(h·W_n + b_n));  h' = n + z·(h − n)
//	LSTM     i, f, o = σ(x + h·W + b);  g = tanh(x_g + h·W_g + b_g);  c' = f·c + i·g;  h' = o·tanh(c')
//
// Rows of a batch do not depend on each other, so a core does all times of some rows, with the weights in its cache. It is
// for CPUs and for weights that stay in the cache: on a GPU the products of a step need all of it.
package recurrent
