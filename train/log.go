package train

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/scalar"
)

// Log is a file of JSON lines that other programs can follow, an object for each Write:
//
//	{"step":100,"time":"2026-03-01T12:00:00.000Z","loss":0.2134,"accuracy":0.93}
//
// Numbers that JSON has not are the strings "NaN", "Infinity" and "-Infinity". A line is written by one
// call of the system: whatever ends the program, and however full the disk is, the file has whole
// lines. Several goroutines may use a Log, if the values are numbers of Go or of their own devices.
// Several programs on one system may write to one file.
type Log struct {
	file *atomicfile.Appender
	now  func() time.Time
}

// lineStart is what every line begins with.
const lineStart = `{"step":`

// OpenLog opens the file of a Log, and makes it if there is none. A file that is there is continued, as
// by a run that resumes: a last line that a killed program did not end is dropped. The error says why
// the file cannot be written, or that it is another kind of file; then it is as it was.
func OpenLog(path string) (*Log, error) {
	if err := dropTorn(path); err != nil {
		return nil, atomicfile.Failed(path, err)
	}
	file, err := atomicfile.OpenAppend(path)
	if err != nil {
		return nil, err
	}
	return &Log{file, time.Now}, nil
}

// dropTorn cuts off what stands behind the last end of a line of a Log. Of another kind of file it returns
// an error.
func dropTorn(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	start := make([]byte, min(info.Size(), int64(len(lineStart))))
	if _, err := f.ReadAt(start, 0); err != nil {
		return err
	}
	if string(start) != lineStart[:len(start)] {
		return fmt.Errorf("it is there, and no log: its first line begins %q, not %q", start, lineStart)
	}
	tail, err := lastLine(f, info.Size())
	if err != nil || len(tail) == 0 {
		return err
	}
	return os.Truncate(path, info.Size()-int64(len(tail)))
}

// mostLine bounds what is taken for the rest of a line.
const mostLine = 1 << 20

// lastLine returns what stands behind the last end of a line.
func lastLine(f io.ReaderAt, size int64) ([]byte, error) {
	tail := make([]byte, min(size, mostLine))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return nil, err
	}
	at := bytes.LastIndexByte(tail, '\n')
	if at < 0 && int64(len(tail)) < size {
		return nil, fmt.Errorf("its last line is longer than %d bytes: it is no log", mostLine)
	}
	return tail[at+1:], nil
}

// Write adds a line: the step, the time, and values, which are names and numbers in turn, such as
// "loss", loss, "rate", opt.LR(). A number is one of Go or a [Scalar], which is read: that waits for the
// device. The error is the first of these, or says why the line could not be written; then the file has
// the lines that it had, and the next Write tries again. It panics with tensor.ErrValue for other
// values, and for the names step and time.
func (l *Log) Write(step int, values ...any) error {
	mustPairs("Write", values, "step", "time")
	line := strconv.AppendInt([]byte(lineStart), int64(step), 10)
	line = append(line, `,"time":"`...)
	line = l.now().UTC().AppendFormat(line, "2006-01-02T15:04:05.000Z")
	line = append(line, '"')
	for i := 0; i < len(values); i += 2 {
		v, err := scalar.Read(values[i+1])
		if err != nil {
			return err
		}
		line = append(appendString(append(line, ','), values[i].(string)), ':')
		line = appendJSON(line, v)
	}
	return l.file.Append(append(line, "}\n"...))
}

// Close closes the file. A second call does nothing.
func (l *Log) Close() error { return l.file.Close() }
