"""Losses."""
from cases import F, INF, NAN, case, ints, normal, torch, uniform

ce = F.cross_entropy
name = "autograd.CrossEntropy"
case(name, "odd", ce, normal(7, 5), ints(0, 5, 7))
case(name, "weights", lambda x, t, w: ce(x, t, w.detach(), label_smoothing=0.1, ignore_index=2), normal(9, 5), ints(0, 5, 9), uniform(0.5, 2, 5))
case(name, "sum", lambda x, t: ce(x, t, label_smoothing=0.3, reduction="sum"), normal(7, 5), ints(0, 5, 7))
case(name, "pixels", lambda x, t, w: ce(x, t, w.detach(), label_smoothing=0.2), normal(2, 3, 4, 5), ints(0, 3, 2, 4, 5), uniform(0.5, 2, 3))
case(name, "each", lambda x, t: ce(x, t, ignore_index=-1, reduction="none"), normal(2, 5, 18), ints(-1, 5, 2, 18))
case(name, "one", ce, normal(40), ints(0, 40))
case(name, "none", lambda x, t: ce(x, t, reduction="sum"), normal(0, 5), ints(0, 5, 0))
case(name, "ignored", ce, normal(3, 5), ints(-100, -99, 3), grad=False)
case(name, "special", lambda x, t: ce(x, t, reduction="none"),
     [[1, 2, 1000], [-1000, 1000, 0], [0, -INF, 1], [NAN, 1, 2], [INF, 1, 2], [-INF, -INF, 3], [5, 5, 5]],
     ints(0, 3, 7), grad=False)
case(name, "smoothed", lambda x, t: ce(x, t, label_smoothing=1.0), normal(7, 5), ints(0, 5, 7))

nll, name = F.nll_loss, "autograd.NLL"
case(name, "odd", lambda x, t, w: nll(x, t, w.detach()), normal(7, 5), ints(0, 5, 7), uniform(0.5, 2, 5))
case(name, "pixels", lambda x, t: nll(x, t, ignore_index=1, reduction="sum"), normal(2, 3, 4, 5), ints(0, 3, 2, 4, 5))
case(name, "special", lambda x, t: nll(x, t, reduction="none"), [[1, -INF], [NAN, 0], [-INF, -0.0]], ints(0, 2, 3), grad=False)

bce, name = F.binary_cross_entropy_with_logits, "autograd.BCEWithLogits"
case(name, "odd", bce, normal(3, 5), uniform(0, 1, 3, 5))
case(name, "weights", lambda x, t, w, p: bce(x, t, w.detach(), pos_weight=p.detach(), reduction="sum"), normal(3, 5), uniform(0, 1, 3, 5), uniform(0.5, 2, 3, 1), uniform(0.5, 2, 5))
case(name, "special", lambda x, t: bce(x, t, reduction="none"), [1000, -1000, 0.0, NAN, 30, -30], [0.0, 1, 0.5, 0, 1, 0], grad=False)


def reduced(name, f, target=normal, grad=True):
    case(name, "odd", f, normal(3, 7), target(3, 7), grad=grad)
    case(name, "sum", lambda x, t: f(x, t, reduction="sum"), normal(2, 3, 5), target(2, 3, 5), grad=grad)
    case(name, "none", lambda x, t: f(x, t, reduction="sum"), normal(0, 5), target(0, 5), grad=grad)
    case(name, "special", lambda x, t: f(x, t, reduction="none"), [1, INF, -INF, NAN, 2, 0.75, -0.75, 3], [1, 2, 0, 1, NAN, 0.0, 0.0, 1], grad=False)


reduced("autograd.MSE", F.mse_loss)
reduced("autograd.L1", F.l1_loss)
reduced("autograd.Huber", lambda x, t, **how: F.huber_loss(x, t, delta=0.75, **how))
reduced("autograd.SmoothL1", lambda x, t, **how: F.smooth_l1_loss(x, t, beta=0.75, **how))

kl, name = F.kl_div, "autograd.KLDivergence"
case(name, "odd", lambda x, t: kl(x, t, reduction="mean"), normal(3, 5), uniform(0.1, 1, 3, 5))
case(name, "logarithms", lambda x, t: kl(x, t, reduction="sum", log_target=True), normal(3, 5), normal(3, 5))
case(name, "special", lambda x, t: kl(x, t, reduction="none"), [1, INF, -INF, NAN, 2, 3], [0.0, 1, 0.5, 1, NAN, 1], grad=False)

cos, name = F.cosine_similarity, "autograd.CosineSimilarity"
case(name, "odd", lambda x, w: cos(x, w, dim=1), normal(3, 5, 2), normal(3, 5, 2))
case(name, "repeat", lambda x, w: cos(x, w, dim=-1), normal(3, 5), normal(2, 1, 5))
case(name, "special", lambda x, w: cos(x, w, dim=1, eps=1e-3), [[0.0, 0], [1, NAN], [1e-5, 0]], [[1.0, 2], [1, 1], [1, 0]], grad=False)

sides = lambda *shape: uniform(0, 1, *shape).round() * 2 - 1
hinge = lambda x, t, **how: F.hinge_embedding_loss(x, t.detach(), margin=1.5, **how)
reduced("autograd.HingeEmbedding", hinge, sides)

triplet, name = F.triplet_margin_loss, "autograd.TripletMargin"
case(name, "odd", triplet, normal(5, 7), normal(5, 7), normal(5, 7))
case(name, "rows", lambda a, p, n: triplet(a, p, n, margin=2.0, reduction="none"), normal(4, 3), normal(4, 3), normal(4, 3))
case(name, "special", lambda a, p, n: triplet(a, p, n, reduction="none"), [[1.0, 1], [NAN, 1]], [[1.0, 1], [1, 1]], [[1.0, 1], [1, 1]], grad=False)

name = "autograd.BCE"
case(name, "odd", F.binary_cross_entropy, uniform(0.05, 0.95, 3, 5), uniform(0, 1, 3, 5))
case(name, "weights", lambda x, t, w: F.binary_cross_entropy(x, t, w.detach(), reduction="sum"), uniform(0.05, 0.95, 3, 5), uniform(0, 1, 3, 5), uniform(0.5, 2, 5))
case(name, "ends", lambda x, t: F.binary_cross_entropy(x, t, reduction="none"), [0.0, 1, 0, 1, 1e-300], [0.0, 1, 1, 0, 1], grad=False)
probabilities = lambda *shape: torch.softmax(torch.as_tensor(normal(*shape)), min(1, len(shape) - 1)).numpy()
name = "autograd.CrossEntropyOf"
case(name, "odd", ce, normal(7, 5), probabilities(7, 5))
case(name, "weights", lambda x, t, w: ce(x, t, w.detach(), label_smoothing=0.2), normal(2, 3, 4, 5), probabilities(2, 3, 4, 5), uniform(0.5, 2, 3))
case(name, "one", lambda x, t: ce(x, t, reduction="sum"), normal(9), probabilities(9))
case(name, "each", lambda x, t: ce(x, t, reduction="none"), normal(2, 5, 3), probabilities(2, 5, 3))
margin, name = F.multi_margin_loss, "autograd.MultiMargin"
case(name, "odd", margin, normal(7, 5), ints(0, 5, 7))
case(name, "squared", lambda x, t, w: margin(x, t, p=2, margin=0.7, weight=w.detach(), reduction="sum"), normal(7, 5), ints(0, 5, 7), uniform(0.5, 2, 5))
case(name, "special", lambda x, t: margin(x, t, reduction="none"), [[1.0, INF, 2], [5, 1, 2], [-INF, 1, 2]], ints(0, 1, 3), grad=False)
cosine, name = F.cosine_embedding_loss, "autograd.CosineEmbedding"
case(name, "odd", lambda x, w, t: cosine(x, w, t.detach(), margin=0.1), normal(7, 5), normal(7, 5), sides(7))
case(name, "one", lambda x, w, t: cosine(x, w, t.detach(), reduction="sum"), normal(5), normal(5), sides())
case(name, "zeros", lambda x, w, t: cosine(x, w, t.detach(), reduction="none"), [[0.0, 0], [1, 2]], [[1.0, 2], [2, 5]], [1.0, -1])
gauss, name = F.gaussian_nll_loss, "autograd.GaussianNLL"
case(name, "odd", gauss, normal(3, 5), normal(3, 5), uniform(0.1, 2, 3, 5))
case(name, "full", lambda x, t, v: gauss(x, t, v, full=True, eps=0.5, reduction="sum"), normal(3, 5), normal(3, 5), uniform(0.1, 2, 3, 1))
name = "autograd.CTC"
ctc = lambda x, t, inputs, lengths, **how: F.ctc_loss(F.log_softmax(x, 2), t, inputs, lengths, **how)
case(name, "odd", lambda x, t: ctc(x, t, (7, 5, 6), (3, 2, 1)), normal(7, 3, 4), ints(1, 4, 3, 3))
case(name, "sum", lambda x, t: ctc(x, t, (6, 6), (4, 2), blank=3, reduction="sum"), normal(6, 2, 4), [[1, 1, 0, 2], [2, 2, 0, 0]])
case(name, "empty", lambda x, t: ctc(x, t, (4, 3), (0, 1), reduction="none"), normal(4, 2, 3), ints(1, 3, 2, 1))
case(name, "long", lambda x, t: ctc(x, t, (3, 3), (3, 2), reduction="none", zero_infinity=True), normal(3, 2, 3), [[1, 1, 1], [1, 2, 0]])
case(name, "infinite", lambda x, t: ctc(x, t, (3, 3), (3, 2), reduction="none"), normal(3, 2, 3), [[1, 1, 1], [1, 2, 0]], grad=False)
