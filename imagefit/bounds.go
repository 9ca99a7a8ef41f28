package imagefit

import (
	"errors"
	"fmt"
)

// Bounds is what reading and drawing may take. The zero value sets no bounds.
type Bounds struct {
	Memory int64 // bytes; 0: any number
}

// ErrMemory is what needs more memory than Bounds allow.
var ErrMemory = errors.New("more memory is needed than may be taken")

// allow returns an error that wraps ErrMemory if what is to be done needs more bytes than there may be.
func (b Bounds) allow(what string, bytes int64) error {
	if b.Memory == 0 || bytes <= b.Memory {
		return nil
	}
	return fmt.Errorf("%w: %s takes about %s, and the limit is %s", ErrMemory, what, FormatBytes(bytes), FormatBytes(b.Memory))
}

// FormatBytes writes a number of bytes for people, in units of 1024.
func FormatBytes(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	v, unit := float64(n), -1
	for v >= 1023.5 && unit < len(units)-1 {
		v /= 1024
		unit++
	}
	if v < 9.95 {
		return fmt.Sprintf("%.1f %cB", v, units[unit])
	}
	return fmt.Sprintf("%.0f %cB", v, units[unit])
}
