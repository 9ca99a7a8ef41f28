package train_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/clgrad/clgrad/train"
	"golang.org/x/sys/unix"
)

// newTerminal returns the end of a pseudo-terminal that a program writes to, and a function that returns what
// it has shown once the program has closed its end.
func newTerminal(t *testing.T, columns uint16) (end *os.File, shown func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err != nil {
		t.Skip(err)
	}
	end, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(master) // an error is how it ends
		text <- string(all)
	}()
	return end, func() string { end.Close(); return <-text }
}

// countedLoss is a Scalar that counts how often it is read.
type countedLoss struct{ reads int }

func (c *countedLoss) Item() (float64, error) { c.reads++; return 0.125, nil }

// TestProgressOnTerminal: on a terminal there is one line, ten times a second at most, that fits, and the cursor
// is below it at the end.
func TestProgressOnTerminal(t *testing.T) {
	for _, steps := range []int{200, train.Unknown, 0} {
		for _, columns := range []uint16{120, 40, 10} {
			end, shown := newTerminal(t, columns)
			start := time.Now()
			p := train.NewProgress(end, steps, train.ProgressOptions{Name: "epoch 1"})
			loss := new(countedLoss)
			for range max(steps, steps*-200) {
				p.Step("loss", loss)
				time.Sleep(time.Millisecond)
			}
			if err := p.Done(); err != nil {
				t.Fatal(err)
			}
			if most := int(time.Since(start)/(100*time.Millisecond)) + 2; loss.reads > most {
				t.Errorf("%d steps: the loss was read %d times, at most %d", steps, loss.reads, most)
			}
			text := shown()
			if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
				t.Errorf("%d steps in %d columns: %q", steps, columns, text)
			}
			last := text[strings.LastIndex(strings.TrimRight(text, "\r\n"), "\r")+1:]
			if columns == 120 && steps > 0 && !(strings.Contains(last, "epoch 1: step 200/200  loss 0.125") && strings.Contains(last, "steps/s")) {
				t.Errorf("the line at the end is %q", last)
			}
		}
	}
}
