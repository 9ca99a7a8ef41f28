package tensor

import (
	"fmt"
	"math"
	"runtime/debug"
	"sync"

	"github.com/pbnjay/memory"
)

// machineMemory is the bytes of memory of the machine, or the largest number where that is not known.
var machineMemory = sync.OnceValue(func() int64 {
	if n := memory.TotalMemory(); n > 0 && n < math.MaxInt64 {
		return int64(n)
	}
	return math.MaxInt64
})

// manyBytes is how large an allocation is that is compared with the memory there is.
const manyBytes = 64 << 20

// refused returns an error for an allocation of size bytes that the machine cannot hold beside what the device
// holds, or that is more than the memory limit of Go's runtime: Go itself would end the program. What the garbage
// collector finds is returned before that.
func (d *goDevice) refused(size int) error {
	if size < manyBytes {
		return nil
	}
	limit := min(machineMemory(), debug.SetMemoryLimit(-1))
	if d.pool.Live()+int64(size) <= limit {
		return nil
	}
	d.memory.collect(d.pool.Live)
	if live := d.pool.Live(); live+int64(size) > limit {
		return fmt.Errorf("tensor: allocate on %s: %.1f GiB wanted, and %.1f GiB in use, are more than the %.1f GiB there are",
			d.Name(), gib(int64(size)), gib(live), gib(limit))
	}
	return nil
}

func gib(n int64) float64 { return float64(n) / (1 << 30) }
