// Package tensorboard writes what TensorBoard shows: curves, pictures, histograms, texts and graphs.
//
//	w, err := tensorboard.New("runs/first")
//	if err != nil {
//		return err
//	}
//	defer w.Close()
//	for step := range steps {
//		loss := forward(step)
//		if step%100 == 0 {
//			err = w.AddScalar("loss/train", loss, step)
//			err = w.AddHistogram("weights", net.Weight.Value(), step)
//		}
//	}
//
// It needs nothing but the files: pip install tensorboard, and tensorboard --logdir runs shows them in a browser, while
// the program runs and afterwards. Sources: TensorFlow's event.proto, summary.proto and graph.proto; its TFRecord format.
//
// Stability: the API stays within a minor version; what goes in the next one is replaced, and its
// release notes say by what.
package tensorboard
