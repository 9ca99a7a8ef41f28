// Package onnxpb reads the messages of an ONNX file: field numbers and meanings are those of onnx.proto of
// the specification (github.com/onnx/onnx). Tensors point into the bytes that are read, and copy none.
package onnxpb

// Model is ModelProto: a graph, and what it needs of operators.
type Model struct {
	IRVersion       int64
	ProducerName    string
	ProducerVersion string
	Domain          string
	Version         int64
	Doc             string
	Graph           *Graph
	Opsets          []Opset
	Metadata        []Entry
	Functions       []*Function
}

// Opset is OperatorSetIdProto: a version of the operators of a domain, "" for ai.onnx.
type Opset struct {
	Domain  string
	Version int64
}

// Entry is StringStringEntryProto.
type Entry struct{ Key, Value string }

// Graph is GraphProto.
type Graph struct {
	Name         string
	Doc          string
	Nodes        []*Node
	Initializers []*Tensor
	Sparse       []*SparseTensor
	Inputs       []*ValueInfo
	Outputs      []*ValueInfo
	Values       []*ValueInfo
}

// Node is NodeProto: one use of an operator. An empty name among inputs or outputs is one left out.
type Node struct {
	Name       string
	Op         string
	Domain     string
	Overload   string
	Doc        string
	Inputs     []string
	Outputs    []string
	Attributes []*Attribute
}

// Function is FunctionProto: an operator that the model defines by a graph.
type Function struct {
	Name, Domain, Overload string
	Doc                    string
	Inputs, Outputs        []string
	Attributes             []string     // without a default
	Defaults               []*Attribute // with one
	Nodes                  []*Node
	Opsets                 []Opset
}

// AttributeType says which field of an Attribute holds its value.
type AttributeType int32

// The types, by the specification's numbers.
const (
	AttrUndefined AttributeType = iota
	AttrFloat
	AttrInt
	AttrString
	AttrTensor
	AttrGraph
	AttrFloats
	AttrInts
	AttrStrings
	AttrTensors
	AttrGraphs
	AttrSparseTensor
	AttrSparseTensors
	AttrType
	AttrTypes
)

var attributeNames = [...]string{"no type", "float", "int", "string", "tensor", "graph", "floats", "ints", "strings", "tensors",
	"graphs", "sparse tensor", "sparse tensors", "type", "types"}

// String names the type.
func (t AttributeType) String() string {
	if t < 0 || int(t) >= len(attributeNames) {
		return "an unknown type"
	}
	return attributeNames[t]
}

// Attribute is AttributeProto: a constant of a node.
type Attribute struct {
	Name    string
	Type    AttributeType
	Ref     string // the attribute of the function whose value this takes
	Float   float32
	Int     int64
	String  string
	Tensor  *Tensor
	Graph   *Graph
	Sparse  *SparseTensor
	Proto   *Type
	Floats  []float32
	Ints    []int64
	Strings []string
	Tensors []*Tensor
	Graphs  []*Graph
}

// ValueInfo is ValueInfoProto: the name and type of a value.
type ValueInfo struct {
	Name string
	Doc  string
	Type *Type // nil: not said
}

// Kind says which field of a Type is meant.
type Kind uint8

// The kinds of values.
const (
	KindUnknown Kind = iota
	KindTensor
	KindSparse
	KindSequence
	KindOptional
	KindMap
)

// Type is TypeProto.
type Type struct {
	Kind     Kind
	Elem     DataType // of tensors
	Dims     []Dim    // of tensors
	HasShape bool     // whether Dims says anything: a tensor of rank 0 has none, too
	Of       *Type    // of sequences and optionals
}

// Dim is TensorShapeProto.Dimension: a number, or a name of one that is not known, or neither.
type Dim struct {
	Value int64 // -1: not known
	Param string
}

// Tensor is TensorProto. One of the fields of data holds the elements, unless External says where they are.
type Tensor struct {
	Name     string
	Type     DataType
	Dims     []int64
	Raw      []byte // little-endian, as the file has it
	HasRaw   bool
	Packed   [][]byte // float_data, int32_data, int64_data, double_data or uint64_data, by Field
	Field    int
	Single   []uint64 // the same, of elements that are not packed
	Strings  [][]byte
	External []Entry // location, offset, length, checksum
	Outside  bool    // data_location is EXTERNAL
}

// SparseTensor is SparseTensorProto.
type SparseTensor struct {
	Values, Indices *Tensor
	Dims            []int64
}

// Sequence is SequenceProto, and Optional is OptionalProto: one element, or none.
type (
	Sequence struct {
		Name      string
		Elem      int32 // 1 tensors, 3 sequences, 5 optionals
		Tensors   []*Tensor
		Sequences []*Sequence
		Optionals []*Optional
	}
	Optional struct {
		Name     string
		Elem     int32
		Tensor   *Tensor
		Sequence *Sequence
		Optional *Optional
	}
)
