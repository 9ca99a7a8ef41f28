// Package plot draws pictures of training: curves, histograms of weights and gradients, and tensors as pictures.
//
//	loss := plot.Panel{Title: "loss", XLabel: "step", LogY: true, Curves: []plot.Curve{{Y: losses}}}
//	err := plot.Save("loss.png", []plot.Panel{loss})
//
//	panels, err := plot.Parameters(nn.Params(net)) // a row of histograms for each: weights, gradients
//	err = plot.Save("weights.svg", panels, plot.Options{Columns: 2})
//
//	err = plot.SavePictures("maps.png", conv.Forward(x).Value().Select(0, 0)) // [channels, height, width]
//
// The end of a file's name says what it is, .png or .svg. A file is written whole or not at all.
//
// Stability: the API stays within a minor version; what goes in the next one is
// replaced, and its release notes say by what.
package plot
