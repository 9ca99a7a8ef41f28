//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// process is a worker: this program with a device, or PyTorch.
type process struct {
	name    string
	version string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// start starts a worker on some cores: a list of their numbers.
func start(name string, cores []string, command ...string) (*process, error) {
	n := fmt.Sprint(len(cores))
	p := &process{name: name}
	p.cmd = exec.Command("taskset", append([]string{"-c", strings.Join(cores, ",")}, command...)...)
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS="+n, "POCL_MAX_PTHREAD_COUNT="+n, "OMP_NUM_THREADS="+n, "TORCH_THREADS="+n)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	a, err := p.read()
	if err != nil {
		return nil, errors.Join(err, p.cmd.Wait())
	}
	p.version = a.Version
	return p, nil
}

// ask sends a request and waits for the answer.
func (p *process) ask(q request) (answer, error) {
	line, err := json.Marshal(q)
	if err != nil {
		return answer{}, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return answer{}, fmt.Errorf("%s: %w", p.name, err)
	}
	return p.read()
}

func (p *process) read() (a answer, err error) {
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", p.name, err)
	}
	return a, nil
}

// end ends the worker.
func (p *process) end() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}
