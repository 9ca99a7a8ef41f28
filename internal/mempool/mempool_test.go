package mempool

import (
	"errors"
	"runtime"
	"testing"
	"time"
)

func TestClass(t *testing.T) {
	for _, c := range []struct{ n, want int }{
		{0, 512}, {1, 512}, {512, 512}, {513, 768}, {768, 768}, {769, 1024}, {1024, 1024}, {1025, 1536},
		{1<<20 + 1, 3 << 19}, {3<<19 + 1, 1 << 21},
	} {
		if got := Class(c.n); got != c.want {
			t.Errorf("Class(%d) = %d, want %d", c.n, got, c.want)
		}
	}
}

func TestReuseAndCounts(t *testing.T) {
	allocs, releases := 0, 0
	p := New(func(n int) ([]byte, error) { allocs++; return make([]byte, n), nil }, func([]byte) { releases++ })
	a, _ := p.Get(600)
	p.Put(a)
	b, _ := p.Get(700) // the same class
	if allocs != 1 || &a.Memory[0] != &b.Memory[0] {
		t.Errorf("a freed buffer of the class was not reused: %d allocations", allocs)
	}
	if live, held, peak := p.Bytes(); live != 768 || held != 0 || peak != 768 {
		t.Errorf("live %d held %d peak %d, want 768 0 768", live, held, peak)
	}
	c, _ := p.Get(5000) // of another class
	p.Put(b)
	p.Put(c)
	if live, held, peak := p.Bytes(); live != 0 || held != 768+6144 || peak != 768+6144 {
		t.Errorf("live %d held %d peak %d, want 0 6912 6912", live, held, peak)
	}
	p.Close()
	if live, held, _ := p.Bytes(); live != 0 || held != 0 || releases != 2 {
		t.Errorf("after Close: live %d held %d, %d releases", live, held, releases)
	}
}

// TestClosed: closing releases everything once, what is handed out too; what comes back later, from
// its holder or because it was lost, is not released again, and nothing is handed out any more.
func TestClosed(t *testing.T) {
	released := make(chan int, 10)
	p := New(func(n int) (int, error) { return n, nil }, func(n int) { released <- n })
	kept, _ := p.Get(512)
	lose := func() { _, _ = p.Get(1024) }
	lose()
	back, _ := p.Get(2048)
	p.Put(back)
	p.Close()
	close(released) // a release after this panics
	sum := 0
	for n := range released {
		sum += n
	}
	if live, held, _ := p.Bytes(); sum != 512+1024+2048 || live != 0 || held != 0 {
		t.Errorf("released %d bytes, want 3584; live %d held %d", sum, live, held)
	}
	p.Put(kept)
	for range 3 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if live, held, _ := p.Bytes(); live != 0 || held != 0 {
		t.Errorf("after what came back late: live %d held %d", live, held)
	}
	if _, err := p.Get(512); !errors.Is(err, ErrClosed) {
		t.Errorf("Get after Close: %v, want ErrClosed", err)
	}
}

// TestDrained: buffers that were released to make room are not found again.
func TestDrained(t *testing.T) {
	p := New(func(n int) (*[]byte, error) { m := make([]byte, n); return &m, nil }, func(*[]byte) {})
	p.Limit = 4096
	lose := func() {
		b, _ := p.Get(3072)
		p.Put(b)
	}
	lose()
	kept, err := p.Get(4096) // releases the other
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
	if live, held, _ := p.Bytes(); live != 4096 || held != 0 {
		t.Errorf("live %d held %d, want 4096 0", live, held)
	}
	runtime.KeepAlive(kept)
}

func TestRefusalDrainsAndRetriesOnce(t *testing.T) {
	errFull := errors.New("full")
	limit, used := 2048, 0
	p := New(func(n int) (int, error) {
		if used+n > limit {
			return 0, errFull
		}
		used += n
		return n, nil
	}, func(n int) { used -= n })
	a, _ := p.Get(1024)
	p.Put(a)
	if _, err := p.Get(2048); err != nil {
		t.Fatalf("the pool did not drain for a larger buffer: %v", err)
	}
	if _, err := p.Get(512); !errors.Is(err, errFull) {
		t.Fatalf("err = %v, want the allocator's", err)
	}
}

// TestLost: a block that nobody holds comes back, however often it has been handed out; one that is
// held, by the pool or by somebody, does not.
func TestLost(t *testing.T) {
	allocs, releases := 0, 0
	p := New(func(n int) (*[]byte, error) { allocs++; m := make([]byte, n); return &m, nil }, func(*[]byte) { releases++ })
	kept, _ := p.Get(5000)
	for round := range 5 {
		b, err := p.Get(600)
		if err != nil {
			t.Fatal(err)
		}
		if round%2 == 1 { // an ordinary life in between
			p.Put(b)
			continue
		}
		b = nil
		for begun := time.Now(); p.Live() > 6144 && time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) {
			runtime.GC()
		}
		if live, held, _ := p.Bytes(); live != 6144 || held != 768 {
			t.Fatalf("round %d: live %d held %d, want 6144 768", round, live, held)
		}
	}
	runtime.GC()
	if allocs != 2 || releases != 0 {
		t.Errorf("%d allocations and %d releases, want 2 and 0", allocs, releases)
	}
	p.Put(kept)
	p.Close()
	for range 3 { // released buffers are not found again
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if live, held, _ := p.Bytes(); live != 0 || held != 0 || releases != 2 {
		t.Errorf("after Close: live %d held %d, %d releases", live, held, releases)
	}
}

// TestLimit: what is held for reuse is given up before the limit refuses.
func TestLimit(t *testing.T) {
	used := 0
	p := New(func(n int) (int, error) { used += n; return n, nil }, func(n int) { used -= n })
	p.Limit = 4096
	a, _ := p.Get(3072)
	if _, err := p.Get(2048); !errors.Is(err, ErrLimit) || used != 3072 {
		t.Fatalf("err = %v with %d bytes used, want ErrLimit and 3072", err, used)
	}
	p.Put(a)
	if _, err := p.Get(4096); err != nil || used != 4096 {
		t.Fatalf("err = %v with %d bytes used, want nil and 4096", err, used)
	}
}
