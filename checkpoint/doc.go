// Package checkpoint keeps the state of a program in one file: models, optimizers, random streams,
// and values of its own. A run that resumes from it has the bits of one that was never stopped.
//
//	parts := checkpoint.State{"model": nn.StateDict(net), "optimizer": opt, "rng": rng, "loader": loader, "progress": &progress}
//	if err := checkpoint.Load(path, parts); err != nil && !errors.Is(err, fs.ErrNotExist) {
//		return err
//	}
//	for progress.Step < steps {
//		train(net, opt, loader, &progress) // some steps
//		if err := checkpoint.Save(path, parts); err != nil {
//			return err
//		}
//	}
//
// The file is a safetensors file: Python reads the weights out of it, as docs/checkpoints.md shows.
//
// Stability: the API stays within a minor version; what goes in the next one is replaced, and its
// release notes say by what. Files that a version wrote are read by later ones, or refused by name.
package checkpoint
