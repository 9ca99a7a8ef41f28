// Package onnx loads models that others trained, and runs them. It writes models for others, too.
//
//	model, err := onnx.Open("model.onnx")
//	session, err := model.Load(d)
//	outputs, err := session.Run(onnx.FromTensor(x))
//	y := outputs[0].Tensor()
//
// A [Model] is a file that was read: its inputs, outputs and operators, without a device. [Model.Load] puts its
// weights on a device and checks that every operator is there. [Session.Run] computes the outputs for inputs. A
// second run for the same shapes is recorded, as by replay.Record, and later ones are replayed.
//
// With [Options.Training] weights are parameters: [Session.Forward] returns nodes with a graph, and nn.Params,
// nn.StateDict and the optimizers take the session for a model.
//
// [Export] writes models of this module as ONNX files, and sessions with the weights that they were trained to.
//
// An operator is a function that [Register] adds to a table: those of this package, and a caller's own.
package onnx
