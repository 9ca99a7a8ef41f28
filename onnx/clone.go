package onnx

import (
	"github.com/clgrad/clgrad/tensor"
)

// Clone returns another session of the same weights, on the same device, with recordings and random
// numbers of its own. Like every use of the device, it is for the goroutine whose turn it is. Each
// session is closed.
func (s *Session) Clone() *Session {
	if s.others == nil {
		panic(&tensor.Error{Pkg: "onnx", Op: "Clone", Kind: tensor.ErrValue, Detail: "the session is closed"})
	}
	c := *s
	*c.others++
	c.replays = replays{}
	c.random, c.seeded = tensor.NewRNG(s.options.Seed), map[*node]*tensor.RNG{}
	return &c
}

// sharesWeights ends the use of the weights by a session that is closed. It reports whether they
// stay, because another session has them: then it frees what is the session's own.
func (s *Session) sharesWeights() bool {
	others := s.others
	s.others = nil
	if others != nil && *others == 0 {
		return false
	}
	s.replays.made.Free()
	if others != nil {
		*others--
	}
	return true
}
