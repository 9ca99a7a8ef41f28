// Speech says when somebody speaks in a recording.
//
//	go run ./examples/speech --model silero_vad.onnx --sound talk.wav
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
)

var (
	modelFile = pflag.String("model", "", "the detector Silero VAD, an ONNX `file`")
	soundFile = pflag.String("sound", "", "the recording, a WAV `file`")
	device    = pflag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
	threshold = pflag.Float64("score", 0.5, "`least` probability of speech, 0 to 1")
)

const (
	rate   = 16000 // samples a second that the model takes
	window = 512   // samples of which it says whether there is speech
	before = 64    // samples before them that it is given, too
	memory = 128   // numbers in each of the two parts of its state
)

// detector is Silero VAD: the input [1, before + window], the state [2, 1, memory] that the call before gave, and the
// rate give a probability [1, 1] and the next state.
type detector struct {
	session *onnx.Session
	device  tensor.Device
	input   []float32 // what comes before the window, and the window
	state   *tensor.Tensor
	rate    *tensor.Tensor
}

func newDetector(session *onnx.Session, d tensor.Device) *detector {
	state := tensor.ZerosOf(d, tensor.Float32, 2, 1, memory)
	return &detector{session, d, make([]float32, before+window), state, tensor.New(d, []int64{rate})}
}

// check reports a model that is no Silero VAD: its inputs and outputs have these names, in any order.
func check(m *onnx.Model) error {
	var names []string
	for _, i := range append(m.Inputs(), m.Outputs()...) {
		names = append(names, i.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"input", "output", "sr", "state", "stateN"}) {
		return fmt.Errorf("it is no Silero VAD of version 5 or 6: it takes %v and gives %v", m.Inputs(), m.Outputs())
	}
	return nil
}

// speech returns how likely the next window holds speech.
func (m *detector) speech(samples []float32) (float64, error) {
	copy(m.input, m.input[window:])
	copy(m.input[before:], samples)
	clear(m.input[before+len(samples):]) // the last window of a recording may be short
	x := tensor.New(m.device, m.input, 1, before+window)
	defer x.Free()
	outputs, err := m.session.RunNamed(map[string]*onnx.Value{
		"input": onnx.FromTensor(x), "state": onnx.FromTensor(m.state), "sr": onnx.FromTensor(m.rate),
	})
	if err != nil {
		return 0, err
	}
	p := outputs["output"].Tensor()
	defer p.Free()
	m.state.Free()
	m.state = outputs["stateN"].Tensor()
	return p.Item()
}

// Speech shorter than leastSpeech is none, silence shorter than leastSilence does not end it, and pad is kept on both
// sides, all in samples.
const (
	leastSpeech  = rate / 4
	leastSilence = rate / 10
	pad          = rate * 3 / 100
)

// segment is where somebody speaks, in samples from the start.
type segment struct{ start, end int }

// segments makes segments of probabilities, one for each window. Speech begins where one reaches the threshold, and
// ends where they stay 0.15 below it.
type segments struct {
	list     []segment
	at       int // samples that were seen
	start    int // of speech, or −1
	quietAt  int // where silence began in it, or −1
	speaking float64
}

func newSegments(threshold float64) *segments {
	return &segments{start: -1, quietAt: -1, speaking: threshold}
}

func (s *segments) add(probability float64) {
	switch {
	case probability >= s.speaking:
		if s.start < 0 {
			s.start = s.at
		}
		s.quietAt = -1
	case probability < s.speaking-0.15 && s.start >= 0:
		if s.quietAt < 0 {
			s.quietAt = s.at
		}
		if s.at-s.quietAt >= leastSilence {
			s.close(s.quietAt)
		}
	}
	s.at += window
}

func (s *segments) close(end int) {
	if end-s.start > leastSpeech {
		s.list = append(s.list, segment{s.start, end})
	}
	s.start, s.quietAt = -1, -1
}

// end returns the segments of a recording of so many samples.
func (s *segments) end(samples int) []segment {
	if s.start >= 0 {
		s.close(samples)
	}
	for i := range s.list {
		s.list[i].start = max(0, s.list[i].start-pad)
		s.list[i].end = min(samples, s.list[i].end+pad)
		if i > 0 && s.list[i].start < s.list[i-1].end { // what lies between two is shared
			middle := (s.list[i].start + s.list[i-1].end) / 2
			s.list[i].start, s.list[i-1].end = middle, middle
		}
	}
	return s.list
}

// find returns the segments of a recording, and how many samples it has.
func find(m *detector, sound *resampler) (list []segment, samples int, err error) {
	s := newSegments(*threshold)
	for buffer := make([]float32, window); ; {
		n, err := sound.read(buffer)
		samples += n
		if n > 0 {
			p, err := m.speech(buffer[:n])
			if err != nil {
				return nil, 0, err
			}
			s.add(p)
		}
		if errors.Is(err, io.EOF) {
			return s.end(samples), samples, nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

func run() error {
	file, err := os.Open(*soundFile)
	if err != nil {
		return err
	}
	defer file.Close()
	sound, err := newWAV(file)
	if err != nil {
		return fmt.Errorf("%s: %w", *soundFile, err)
	}
	model, err := onnx.Open(*modelFile)
	if err != nil {
		return err
	}
	if err := check(model); err != nil {
		return fmt.Errorf("%s: %w", *modelFile, err)
	}
	d, err := tensor.Open(*device, tensor.Options{Builds: program.Builds})
	if err != nil {
		return err
	}
	defer d.Close()
	session, err := model.Load(d)
	if err != nil {
		return err
	}
	defer session.Close()
	start := time.Now()
	list, samples, err := find(newDetector(session, d), newResampler(sound, sound.rate, rate))
	if err != nil {
		return fmt.Errorf("%s: %w", *soundFile, err)
	}
	took := time.Since(start).Seconds()
	for _, s := range list {
		fmt.Printf("%.2f–%.2f s\n", float64(s.start)/rate, float64(s.end)/rate)
	}
	_, err = fmt.Printf("segments: %d in %.2f s of sound, found in %.2f s\n", len(list), float64(samples)/rate, took)
	return err
}

func main() { program.Main("speech", run, "model", "sound") }
