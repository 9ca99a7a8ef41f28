// Package serve answers many callers at once with one model: requests that wait are computed
// together, on one device or several.
//
//	predict := serve.Func(d, func(x ...*autograd.Node) []*autograd.Node {
//		return []*autograd.Node{net.Forward(x[0]).Softmax(1)}
//	})
//	p, err := serve.New([]serve.Worker{predict}, serve.Config{MaxBatch: 32})
//
//	outputs, err := p.Predict(ctx, data.New(pixels, 1, 1, 8, 8)) // from any goroutine
//	probabilities := data.Elements[float32](outputs[0])
//
//	err = p.Close(ctx) // answers what waits
//
// A [Worker] computes on a device: [Func] makes one of a Go function over nodes, and RunTensors of an
// onnx.Session is the Run of another. [Predictor.Predict] puts a request into a queue. A worker that
// is idle takes the oldest and those of the same shape behind it, joins their rows, runs the model,
// and answers each with its rows.
package serve
