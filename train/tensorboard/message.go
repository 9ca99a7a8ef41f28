package tensorboard

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of fields are those of TensorFlow's event.proto, summary.proto, histogram.proto, graph.proto,
// node_def.proto, attr_value.proto, tensor.proto and tensor_shape.proto.

// message appends a field that is a message or bytes.
func message(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func text(b []byte, num protowire.Number, v string) []byte { return message(b, num, []byte(v)) }

func integer(b []byte, num protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
}

func single(b []byte, num protowire.Number, v float32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), math.Float32bits(v))
}

func double(b []byte, num protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, num, protowire.Fixed64Type), math.Float64bits(v))
}

// doubles appends a packed list.
func doubles(b []byte, num protowire.Number, list []float64) []byte {
	var packed []byte
	for _, v := range list {
		packed = protowire.AppendFixed64(packed, math.Float64bits(v))
	}
	return message(b, num, packed)
}

// The fields of an Event that are written.
const (
	eventTime       = 1
	eventStep       = 2
	eventVersion    = 3
	eventGraph      = 4
	eventSummary    = 5
	eventSessionLog = 7
)

// summary returns a Summary of one value: a tag, and a field of the value's kind in v.
func summary(tag string, v []byte) []byte {
	return message(nil, 1, append(text(nil, 1, tag), v...))
}
