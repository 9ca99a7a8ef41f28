package fusion_test

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/replay/fusion"
	"github.com/clgrad/clgrad/tensor"
)

// A fusion that proposes nothing shows what a step computes, and what is there after a run.
func Example() {
	remove := fusion.Register(fusion.Fusion{Name: "look", Doc: "looks", Match: func(s fusion.Step) []fusion.Match {
		for i, l := range s.Launches() {
			for _, op := range l.Operations {
				_, isMap := op.(*operation.Map)
				fmt.Printf("%s: a map: %v, lasts: %v\n", s.Name(i), isMap, s.Lasts(i, l.Writes[0]))
			}
		}
		return nil
	}})
	defer remove()
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	x := tensor.Full(d, 2, 4, 4)
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		return []*tensor.Tensor{x.SiLU().MatMul(x).Neg()}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rec.Free()
	// Output:
	// 0 k_silu: a map: true, lasts: false
	// 1 k_gemm_nn: a map: false, lasts: false
	// 2 k_neg: a map: true, lasts: true
}
