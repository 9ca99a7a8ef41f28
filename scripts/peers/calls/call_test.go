package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

func TestAnswers(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const pair = `{"type": "float32", "shape": [2], "data": "AACAPwAAAEA=", "param": true}` // 1, 2
	for _, c := range []struct{ steps, result, want string }{
		{pair + `, {"call": "Sum", "args": [{"ref": 0}, 0, "tensor.Keepdims"]}`, `{"ref": 1}`,
			`{"arrays":[{"type":"float32","shape":[1],"data":"AABAQA=="},{"type":"float32","shape":[2],"data":"AACAPwAAgD8="}]}`},
		{pair + `, {"call": "MaxWithIndex", "args": [{"ref": 0}]}, {"call": "MulScalar", "args": [{"ref": 1}, "inf"]}`, `{"ref": 2}`,
			`{"arrays":[{"type":"float32","shape":[],"data":"AACAfw=="},{"type":"float32","shape":[2],"data":"AAAAAAAAgH8="}]}`},
		{pair + `, {"call": "Pad", "args": [{"ref": 0}, [[1, -1]], {"Mode": "tensor.PadReflect"}]}`, `{"ref": 1}`,
			`{"arrays":[{"type":"float32","shape":[2],"data":"AAAAQAAAgD8="},{"type":"float32","shape":[2],"data":"AACAPwAAgD8="}]}`},
		{pair + `, {"call": "autograd.Concat", "args": [0, {"ref": 0}, {"ref": 0}]}, {"call": "Slice", "args": [{"ref": 1}, 0, 3, 4]}`, `{"ref": 2}`,
			`{"arrays":[{"type":"float32","shape":[1],"data":"AAAAQA=="},{"type":"float32","shape":[2],"data":"AAAAAAAAgD8="}]}`},
		{pair + `, {"call": "Sum", "args": [{"ref": 0}, 1]}`, `{"ref": 1}`, "Sum: axis out of range"},
		{pair + `, {"call": "Nothing", "args": [{"ref": 0}]}`, `{"ref": 1}`, "there is no Nothing"},
		{pair + `, {"call": "Sine", "args": [{"ref": 0}]}`, `{"ref": 1}`, "Sine: there are too few arguments"},
		{pair + `, {"call": "Exp", "args": [{"ref": 0}, 1]}`, `{"ref": 1}`, "Exp: there are too many arguments"},
		{pair + `, {"call": "Pad", "args": [{"ref": 0}, [[1, 1]], {"Kind": 1}]}`, `{"ref": 1}`, "PadOptions has no Kind"},
		{pair + `, {"call": "Add", "args": [{"ref": 0}, 2]}`, `{"ref": 1}`, "2 is no tensor"},
		{pair, `{"ref": 0, "at": 1}`, "there are 1 results"},
	} {
		a, err := answerTo(d, []byte(`{"steps": [`+c.steps+`], "result": `+c.result+`, "params": [0]}`))
		if err != nil {
			a = answer{Error: err.Error()}
		}
		got, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got), c.want) {
			t.Errorf("%s\n%s\nwant %s", c.steps, got, c.want)
		}
	}
}
