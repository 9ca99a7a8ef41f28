package tensorboard

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/scalar"
	"github.com/clgrad/clgrad/tensor"
)

// Options says what a [Writer] continues.
type Options struct {
	// PurgeStep is the first step of a run that resumes: what earlier files of the folder have of this step
	// and later ones is not shown any more. 0: all is.
	PurgeStep int
}

// Writer writes a file of events, which TensorBoard shows as they come. Its methods have the names of PyTorch's
// SummaryWriter. Each adds whole records to the file: whatever ends the program, and however full the disk is,
// the file can be read. An error says why nothing was added. Several goroutines may use a Writer, if what
// they add is on devices of their own.
type Writer struct {
	file *atomicfile.Appender
	now  func() time.Time
}

// written counts the Writers of this program, whose files it tells apart.
var written atomic.Int64

// New returns a Writer of a new file in a folder, which is made if it is not there. TensorBoard calls the folder
// the run: give each run its own, and show all by tensorboard --logdir of the folder above.
func New(folder string, options ...Options) (*Writer, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, atomicfile.Failed(folder, err)
	}
	host, _ := os.Hostname()
	name := fmt.Sprintf("events.out.tfevents.%010d.%s.%d.%d", time.Now().Unix(), cmp.Or(host, "localhost"), os.Getpid(), written.Add(1)-1)
	file, err := atomicfile.OpenAppend(filepath.Join(folder, name))
	if err != nil {
		return nil, err
	}
	w := &Writer{file, time.Now}
	err = w.add(0, text(nil, eventVersion, "brain.Event:2"))
	if err == nil && len(options) > 0 && options[0].PurgeStep > 0 {
		const sessionStart = 1
		err = w.add(options[0].PurgeStep, message(nil, eventSessionLog, integer(nil, 1, sessionStart)))
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return w, nil
}

// add writes an event with a field.
func (w *Writer) add(step int, field []byte) error {
	event := double(nil, eventTime, float64(w.now().UnixMicro())/1e6)
	event = integer(event, eventStep, int64(step))
	return w.file.Append(appendRecord(nil, append(event, field...)))
}

// addValue writes a value of a summary.
func (w *Writer) addValue(tag string, step int, value []byte) error {
	return w.add(step, message(nil, eventSummary, summary(tag, value)))
}

// mustTag panics with tensor.ErrValue for an empty tag.
func mustTag(op, tag string) {
	if tag == "" {
		misuse(op, tensor.ErrValue, `the tag is empty: it is a name, such as "loss/train"`)
	}
}

// misuse panics with a *tensor.Error of this package.
func misuse(op string, kind error, format string, a ...any) {
	panic(&tensor.Error{Pkg: "tensorboard", Op: op, Kind: kind, Detail: fmt.Sprintf(format, a...)})
}

// AddScalar adds a number to a curve: one of Go, or a tensor, a node or a metric, which is read: that waits for
// the device. TensorBoard keeps it as a float32. Tags with one beginning up to a slash are shown together. It
// panics with tensor.ErrValue for an empty tag and for another value.
func (w *Writer) AddScalar(tag string, value any, step int) error {
	const op = "AddScalar"
	mustTag(op, tag)
	if !scalar.Is(value) {
		misuse(op, tensor.ErrValue, "%q is a %T: give a number, or a tensor or a node of one element", tag, value)
	}
	v, err := scalar.Float(value)
	if err != nil {
		return err
	}
	return w.addValue(tag, step, single(nil, 2, float32(v)))
}

// AddImage adds a picture, which the file has as a PNG. [Picture] makes one of a tensor. It panics with
// tensor.ErrValue for an empty tag and for a picture without pixels.
func (w *Writer) AddImage(tag string, img image.Image, step int) error {
	const op = "AddImage"
	mustTag(op, tag)
	size := img.Bounds().Size()
	if size.X < 1 || size.Y < 1 {
		misuse(op, tensor.ErrValue, "the picture %q has no pixels", tag)
	}
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		return fmt.Errorf("tensorboard: picture %q: %w", tag, err)
	}
	const rgb = 3
	value := integer(integer(integer(nil, 1, int64(size.Y)), 2, int64(size.X)), 3, rgb)
	return w.addValue(tag, step, message(nil, 4, message(value, 4, file.Bytes())))
}

// AddHistogram adds how the elements of a tensor of numbers are spread, such as weights or a gradient. It reads
// all of them. What is not finite is left out. It panics with tensor.ErrValue for an empty tag.
func (w *Writer) AddHistogram(tag string, t *tensor.Tensor, step int) error {
	mustTag("AddHistogram", tag)
	values, err := t.Float64s()
	if err != nil {
		return err
	}
	return w.addValue(tag, step, message(nil, 5, histogram(values)))
}

// AddText adds a text, which is shown as Markdown, such as the settings of a run. It panics with tensor.ErrValue for
// an empty tag.
func (w *Writer) AddText(tag, markdown string, step int) error {
	mustTag("AddText", tag)
	const typeString = 7
	shape := message(nil, 2, integer(nil, 1, 1))
	value := message(nil, 8, text(message(integer(nil, 1, typeString), 2, shape), 8, markdown))
	plugin := message(nil, 1, text(nil, 1, "text"))
	return w.addValue(tag, step, message(value, 9, plugin))
}

// AddGraph adds the graph that a node was computed from: operations, parameters and inputs with their shapes. Name
// inputs with Named. Parameters, and the operations that read them, are grouped by the parts of the model. Call it before Backward,
// which takes the graph apart: the error is autograd.ErrGraphFreed afterwards.
func (w *Writer) AddGraph(root *autograd.Node) error {
	nodes, err := autograd.Graph(root)
	if err != nil {
		return err
	}
	return w.add(0, message(nil, eventGraph, graph(nodes)))
}

// Close closes the file. A second call does nothing.
func (w *Writer) Close() error { return w.file.Close() }
