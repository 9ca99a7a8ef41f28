// Package train is what stands around a loop of training: a progress bar, metrics, early stopping, and a
// log. The loop stays the program's own. Each part may be used without the others.
//
//	log, err := train.OpenLog("run.jsonl")
//	stop := train.NewEarlyStopping(net, train.EarlyStoppingConfig{Patience: 5, Rising: true})
//	accuracy := train.NewAccuracy(d)
//	for epoch := range epochs {
//		progress := train.NewProgress(os.Stderr, loader.Batches(), train.ProgressOptions{Name: "training"})
//		for batch := range loader.Epoch() {
//			loss := autograd.CrossEntropy(net.Forward(autograd.Const(batch[0])), batch[1])
//			err = optim.Minimize(opt, loss)
//			progress.Step("loss", loss)
//		}
//		err = progress.Done()
//		accuracy.Reset()
//		for batch := range heldBack.Epoch() {
//			accuracy.Update(net.Forward(autograd.Const(batch[0])).Value(), batch[1])
//		}
//		share, err := accuracy.Item()
//		err = log.Write(epoch, "accuracy", share)
//		if stop.Measured(share) {
//			break
//		}
//	}
//	err = stop.RestoreBest()
//
// What the device computes is not waited for where nobody looks: a [Progress] reads a loss when it shows it,
// and a [Mean], an [Accuracy], a [Confusion] and an [AUROC] add up on the device until they are read. Package
// tensorboard, below this one, writes what TensorBoard shows.
//
// Stability: the API stays within a minor version; what goes in the next one is replaced, and its
// release notes say by what.
package train
