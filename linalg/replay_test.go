package linalg_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/fft"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/linalg"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestRecorded: all functions and their gradients can be recorded, and a replay has the bits of the step.
func TestRecorded(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(1)
		x := autograd.Param(rng.Uniform(d, -1, 1, 2, 4, 4).Add(tensor.Eye(d, 4, 4)), "x")
		step := func() ([]*tensor.Tensor, error) {
			square := x.MatMul(x.MoveDim(-1, -2)).Add(autograd.Const(tensor.Eye(d, 4, 4)))
			q, r := linalg.QR(x)
			u, s, vh := linalg.SVD(x)
			l, v := linalg.Eigh(square)
			_, logs := linalg.SlogDet(x)
			signal := x.Reshape(4, 4, 2)
			loss := q.Sum().Add(r.Sum()).Add(u.Square().Sum()).Add(s.Sum()).Add(vh.Square().Sum()).Add(l.Sum()).Add(v.Square().Sum()).
				Add(logs.Sum()).Add(linalg.Det(x).Sum()).Add(linalg.Inv(x).Sum()).Add(linalg.Solve(square, x).Sum()).
				Add(linalg.SolveTriangular(linalg.Cholesky(square), x).Sum()).
				Add(fft.FFTN(signal, nil).Square().Sum()).Add(fft.IRFFT(fft.IFFT(signal, 0, fft.Options{N: 37}), 0).Square().Sum()).
				Add(fft.ISTFT(fft.STFT(x.Flatten(0, -1), 8), 8).Square().Sum())
			x.ZeroGrad()
			if err := loss.Backward(); err != nil {
				return nil, err
			}
			return []*tensor.Tensor{loss.Value(), x.Grad()}, nil
		}
		want, err := step()
		if err != nil {
			t.Fatal(err)
		}
		first := fmt.Sprint(devtest.Float64s(t, want[1]))
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(devtest.Float64s(t, x.Grad())); got != first {
			t.Errorf("a replay has other gradients than the step:\n%s\n%s", got, first)
		}
	})
}
