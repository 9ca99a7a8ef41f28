// Package goroutine tells goroutines apart, so that a device knows whose it is.
package goroutine
