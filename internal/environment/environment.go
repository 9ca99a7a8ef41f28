// Package environment holds which environment variables the packages of a program read, and checks
// their values, all at one place: a value that were ignored would be a setting that somebody
// believes in.
package environment

import (
	"maps"
	"slices"
	"sync"
)

var (
	mutex  sync.Mutex
	checks = map[string]func() error{}
)

// Register says that a variable is read. check returns an error that names the variable and its
// value if it cannot have that; it loads no driver.
func Register(name string, check func() error) {
	mutex.Lock()
	defer mutex.Unlock()
	checks[name] = check
}

// Check returns the error of the first variable, by name, with a value that it cannot have.
func Check() error {
	mutex.Lock()
	defer mutex.Unlock()
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		if err := checks[name](); err != nil {
			return err
		}
	}
	return nil
}

// Selection is an error of the selection of a device: where a variable selects, it names the
// variable.
type Selection struct{ Err error }

// Error returns that of the error.
func (s *Selection) Error() string { return s.Err.Error() }

// Unwrap returns the error.
func (s *Selection) Unwrap() error { return s.Err }
