package goroutine

import (
	"runtime"
	"sync"
	"testing"
)

// TestID: a goroutine keeps its number while its stack grows and it moves between threads; others
// that live have others.
func TestID(t *testing.T) {
	mine := ID()
	if mine == 0 || mine&1 != 0 {
		t.Errorf("ID is %#x, want an even number that is not 0", mine)
	}
	const n = 100
	ids := make([]uintptr, n)
	var all sync.WaitGroup
	wait := make(chan struct{})
	var ready sync.WaitGroup
	ready.Add(n)
	for i := range n {
		all.Go(func() {
			ids[i] = ID()
			ready.Done()
			<-wait
			for range 10 {
				grow(1000)
				runtime.Gosched()
				if now := ID(); now != ids[i] {
					t.Errorf("goroutine %d was %#x and is %#x", i, ids[i], now)
				}
			}
		})
	}
	ready.Wait()
	close(wait)
	all.Wait()
	seen := map[uintptr]bool{mine: true}
	for i, id := range ids {
		if seen[id] {
			t.Errorf("goroutine %d has the number of another, %#x", i, id)
		}
		seen[id] = true
	}
	if ID() != mine {
		t.Error("the number of a goroutine changed")
	}
}

// grow makes the stack grow.
//
//go:noinline
func grow(n int) int {
	var space [64]byte
	if n == 0 {
		return int(space[0])
	}
	return grow(n-1) + int(space[n%64])
}

func BenchmarkID(b *testing.B) {
	for b.Loop() {
		ID()
	}
}
