// Package hashgrid is a trained encoding of positions in the unit square: a multi-resolution hash
// grid. Source: Müller, Evans, Schied, Keller, "Instant Neural Graphics Primitives with a
// Multiresolution Hash Encoding", SIGGRAPH 2022.
//
//	grid := hashgrid.New(d, []hashgrid.Level{{Across: 16, Down: 16, Entries: 324}, {Across: 256, Down: 256, Entries: 1 << 14}}, 4)
//	table := autograd.Param(rng.Uniform(d, -1e-4, 1e-4, grid.Entries, grid.Features), "table")
//	features := grid.Encode(table, positions) // [n, 2] to [n, 2·4]: what a network is fed
//
// A level is a grid over the square. Each of its vertices has an entry in a table, a few numbers
// called features, or shares one with the vertices of the same hash. A position sees the features
// at the corners of its cell, bilinearly interpolated, of one level beside the other. Training
// changes the table.
//
// The package is written as one outside this module would be: it brings its kernels through what
// packages kernels, tensor and autograd export.
package hashgrid
