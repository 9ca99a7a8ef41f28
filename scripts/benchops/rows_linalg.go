//go:build linux

package main

import (
	"github.com/clgrad/clgrad/fft"
	"github.com/clgrad/clgrad/linalg"
)

// factorised are factorisations of batches of 32×32 matrices, and what they solve.
func factorised() []row {
	matrices := func(n int) []operand { return []operand{param(max(1, n/1024), 32, 32)} }
	systems := func(n int) []operand {
		return []operand{param(max(1, n/1024), 32, 32), param(max(1, n/1024), 32, 8)}
	}
	vectors := func(n int) []operand { return []operand{param(max(1, n/3), 3), param(max(1, n/3), 3)} }
	definite := func(x *node) *node {
		return x.MatMul(x.MoveDim(-1, -2)).AddScalar(1)
	}
	return []row{
		{"linalg.Cross", "", vectors, binary(func(x, y *node) *node { return linalg.Cross(x, y, -1) }), "torch.linalg.cross(a, b)"},
		{"linalg.Cholesky", "", matrices, unary(func(x *node) *node { return linalg.Cholesky(definite(x)) }), "torch.linalg.cholesky(a @ a.mT + 1)"},
		{"linalg.Solve", "", systems, binary(func(x, y *node) *node { return linalg.Solve(x, y) }), "torch.linalg.solve(a, b)"},
		{"linalg.SolveTriangular", "", systems, binary(func(x, y *node) *node {
			return linalg.SolveTriangular(x, y, linalg.TriangularOptions{Unit: true})
		}), "torch.linalg.solve_triangular(a, b, upper=False, unitriangular=True)"},
		{"linalg.Inv", "", matrices, unary(linalg.Inv), "torch.linalg.inv(a)"},
		{"linalg.Det", "", matrices, unary(linalg.Det), "torch.linalg.det(a)"},
		{"linalg.SlogDet", "", matrices, unary(func(x *node) *node {
			_, l := linalg.SlogDet(x)
			return l
		}), "torch.linalg.slogdet(a)[1]"},
		{"linalg.QR", "", matrices, unary(func(x *node) *node {
			q, r := linalg.QR(x)
			return q.Add(r)
		}), "(lambda q, r: q + r)(*torch.linalg.qr(a))"},
		{"linalg.SVD", "", matrices, unary(func(x *node) *node {
			u, s, vh := linalg.SVD(x, linalg.SVDOptions{Reduced: true})
			return u.Square().Add(s.Unsqueeze(-1)).Add(vh.Square())
		}), "(lambda u, s, v: u.square() + s.unsqueeze(-1) + v.square())(*torch.linalg.svd(a, full_matrices=False))"},
		{"linalg.Eigh", "", matrices, unary(func(x *node) *node {
			l, v := linalg.Eigh(x)
			return v.Square().Add(l.Unsqueeze(-1))
		}), "(lambda l, v: v.square() + l.unsqueeze(-1))(*torch.linalg.eigh(a))"},
	}
}

// transforms are those of Fourier: of one signal, and of a batch of pictures.
func transforms() []row {
	signal := one(func(n int) operand { return param(n/2, 2) })
	samples := one(func(n int) operand { return param(n) })
	spectrum := one(func(n int) operand { return param(n/2+1, 2) })
	pictures := func(n int) []operand { return []operand{param(max(1, n/2048), 32, 32, 2)} }
	frames := one(func(n int) operand { return param(257, n/512+1, 2) })
	of := func(f string) string { return "torch.view_as_real(" + f + ")" }
	const z = "torch.view_as_complex(a)"
	return []row{
		{"fft.FFT", "", signal, unary(func(x *node) *node { return fft.FFT(x, 0) }), of("torch.fft.fft(" + z + ")")},
		{"fft.FFT", "batch", func(n int) []operand { return []operand{param(max(1, n/1024), 512, 2)} },
			unary(func(x *node) *node { return fft.FFT(x, 1) }), of("torch.fft.fft(" + z + ")")},
		{"fft.IFFT", "", signal, unary(func(x *node) *node { return fft.IFFT(x, 0) }), of("torch.fft.ifft(" + z + ")")},
		{"fft.RFFT", "", samples, unary(func(x *node) *node { return fft.RFFT(x, 0) }), of("torch.fft.rfft(a)")},
		{"fft.IRFFT", "", spectrum, unary(func(x *node) *node { return fft.IRFFT(x, 0) }), "torch.fft.irfft(" + z + ")"},
		{"fft.FFT2", "", pictures, unary(func(x *node) *node { return fft.FFT2(x) }), of("torch.fft.fft2(" + z + ")")},
		{"fft.FFTN", "", pictures, unary(func(x *node) *node { return fft.FFTN(x, nil) }), of("torch.fft.fftn(" + z + ")")},
		{"fft.FFTShift", "", pictures, unary(func(x *node) *node { return fft.FFTShift(x, 1, 2) }), of("torch.fft.fftshift(" + z + ", dim=(1, 2))")},
		{"fft.IFFTShift", "", pictures, unary(func(x *node) *node { return fft.IFFTShift(x, 1, 2) }), of("torch.fft.ifftshift(" + z + ", dim=(1, 2))")},
		{"fft.STFT", "", samples, unary(func(x *node) *node { return fft.STFT(x, 512) }),
			of("torch.stft(a, 512, window=torch.ones(512), return_complex=True)")},
		{"fft.ISTFT", "", frames, unary(func(x *node) *node { return fft.ISTFT(x, 512) }), "torch.istft(" + z + ", 512, window=torch.ones(512))"},
	}
}
