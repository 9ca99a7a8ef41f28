//go:build ignore

package table

//op:listed autograd.CrossEntropy torch.nn.functional.cross_entropy
//op:listed autograd.NLL torch.nn.functional.nll_loss
//op:listed autograd.BCEWithLogits torch.nn.functional.binary_cross_entropy_with_logits
//op:listed autograd.BCE torch.nn.functional.binary_cross_entropy
//op:listed autograd.MSE torch.nn.functional.mse_loss
//op:listed autograd.L1 torch.nn.functional.l1_loss
//op:listed autograd.Huber torch.nn.functional.huber_loss
//op:listed autograd.SmoothL1 torch.nn.functional.smooth_l1_loss
//op:listed autograd.KLDivergence torch.nn.functional.kl_div
//op:listed autograd.CosineSimilarity torch.nn.functional.cosine_similarity
//op:listed autograd.HingeEmbedding torch.nn.functional.hinge_embedding_loss
//op:listed autograd.TripletMargin torch.nn.functional.triplet_margin_loss
//op:listed autograd.CrossEntropyOf torch.nn.functional.cross_entropy(class probabilities)
//op:listed autograd.MultiMargin torch.nn.functional.multi_margin_loss
//op:listed autograd.CosineEmbedding torch.nn.functional.cosine_embedding_loss
//op:listed autograd.GaussianNLL torch.nn.functional.gaussian_nll_loss
//op:listed autograd.CTC torch.nn.functional.ctc_loss
