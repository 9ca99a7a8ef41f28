package ops

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/kernels"
)

// TuningEnv names the environment variable with the path of the tuning table that a program reads
// besides the one it was built with.
const TuningEnv = "CLGRAD_TUNING"

// ErrTuning is a tuning table that cannot be used.
var ErrTuning = errors.New("bad tuning table")

// mostTable bounds a table in bytes: a device takes a few hundred for each size that was measured.
const mostTable = 1 << 24

//go:embed tuning.json
var builtInTuning []byte

// Tuning is what the tuner measured, by device name.
type Tuning map[string][]GemmChoice

// TuningFile returns the path of the user's tuning table: that of CLGRAD_TUNING, else
// clgrad/tuning.json in the user's configuration folder, "" if there is none.
func TuningFile() string {
	if path := os.Getenv(TuningEnv); path != "" {
		return path
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "clgrad", "tuning.json")
}

// CheckTuning returns an error that names TuningEnv if that is the path of a table that cannot be
// used.
func CheckTuning() error {
	path := os.Getenv(TuningEnv)
	if path == "" {
		return nil
	}
	if _, err := ReadTuning(path); err != nil {
		return fmt.Errorf("%s is %q: %w", TuningEnv, path, err)
	}
	return nil
}

// ReadTuning reads a table. One that is not there is empty. Errors wrap ErrTuning.
func ReadTuning(path string) (Tuning, error) {
	text, err := regular.Read(path, mostTable)
	if errors.Is(err, fs.ErrNotExist) {
		return Tuning{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("kernels: %w: %w", ErrTuning, err)
	}
	t, err := parseTuning(text)
	if err != nil {
		return nil, fmt.Errorf("kernels: %w: %s: %w: delete it, or tune again", ErrTuning, path, err)
	}
	return t, nil
}

func parseTuning(text []byte) (Tuning, error) {
	var t Tuning
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, err
	}
	for name, choices := range t {
		for _, c := range choices {
			if !slices.Contains(GemmForms, c.Form) || c.M < 1 || c.N < 1 || c.K < 1 {
				return nil, fmt.Errorf("device %q: no product has the form %q and the size %d×%d×%d", name, c.Form, c.M, c.N, c.K)
			}
		}
	}
	return t, nil
}

// GemmChoices returns what is known of a device whose limits are l: by the user's table, else by
// the one built in. A user's table that cannot be read is an error.
func GemmChoices(device string, l kernels.Target) ([]GemmChoice, error) {
	builtIn, err := parseTuning(builtInTuning)
	if err != nil {
		panic("kernels: embedded tuning table: " + err.Error()) // it is part of the binary
	}
	own := Tuning{}
	if path := TuningFile(); path != "" {
		if own, err = ReadTuning(path); err != nil {
			return nil, err
		}
	}
	for _, table := range []Tuning{own, builtIn} {
		if choices := table.find(device); choices != nil {
			return slices.DeleteFunc(slices.Clone(choices), func(c GemmChoice) bool {
				return !slices.Contains(GemmTiles(kernels.Float32, l), c.Tile)
			}), nil
		}
	}
	return nil, nil
}

// find looks a device up by its name, or by the longest name in the table that its own starts with.
func (t Tuning) find(device string) []GemmChoice {
	best := ""
	for name := range t {
		if strings.HasPrefix(device, name) && len(name) > len(best) {
			best = name
		}
	}
	return t[best]
}
