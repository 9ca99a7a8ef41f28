// Package goroutine distinguishes goroutines, so that a device knows whose it is.
package goroutine
