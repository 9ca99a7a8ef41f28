package imagefit

import (
	"fmt"
	"math"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/hashgrid"
	"github.com/clgrad/clgrad/tensor"
)

// The kinds of Encoding.
const (
	Frequency = "frequency" // sines and cosines of octaves of each coordinate
	Fourier   = "fourier"   // sines and cosines of waves in random directions
	SIREN     = "siren"     // none: the layers of the network are sines
	Hash      = "hash"      // interpolated features of trained grids
)

// Encodings lists the kinds.
var Encodings = []string{Frequency, Fourier, SIREN, Hash}

// Encoding says what the network sees of a position. Fields that a kind does not have are 0. It is
// stored in model files.
type Encoding struct {
	Kind string `json:"kind"` // one of Encodings
	// Features is the inputs of the network, of frequency (a multiple of 4) and fourier (of 2).
	Features int `json:"features,omitempty"`
	// Sigma is the standard deviation of fourier's waves, in cycles per picture.
	Sigma float64 `json:"sigma,omitempty"`
	// Omega is the factor inside siren's sines.
	Omega float64 `json:"omega,omitempty"`
	// Levels is hash's grids: the first is Coarsest cells along the longer side of the picture, the
	// last Finest, those between grow by one factor. 0 for Finest is as many as there are pixels.
	Levels   int `json:"levels,omitempty"`
	Coarsest int `json:"coarsest,omitempty"` // see Levels
	Finest   int `json:"finest,omitempty"`   // see Levels
	// Table is the most entries of a grid, a power of two: grids of more vertices are hashed.
	Table int `json:"table,omitempty"`
	// PerEntry is the features of an entry.
	PerEntry int `json:"features_per_entry,omitempty"`
}

// DefaultEncoding returns the settings of a kind that mlpimage uses by default.
func DefaultEncoding(kind string) Encoding {
	switch kind {
	case Frequency:
		return Encoding{Kind: kind, Features: 64}
	case Fourier:
		return Encoding{Kind: kind, Features: 128, Sigma: 15}
	case SIREN:
		return Encoding{Kind: kind, Omega: 30}
	case Hash:
		return Encoding{Kind: kind, Levels: 8, Coarsest: 16, Table: 1 << 14, PerEntry: 4}
	}
	return Encoding{Kind: kind}
}

const (
	maxOctaves  = 64 // keeps 2^octave a multiplication that a float32 coordinate survives
	maxFeatures = 1 << 12
	maxLevels   = 32
	maxTable    = 1 << 24
)

// validate returns an error that wraps ErrConfig and names the first setting that is out of range,
// or that the kind does not have.
func (e Encoding) validate() error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrConfig}, a...)...)
	}
	belongs := map[string][]string{
		"features": {Frequency, Fourier}, "sigma": {Fourier}, "omega": {SIREN},
		"levels": {Hash}, "coarsest": {Hash}, "finest": {Hash}, "table": {Hash}, "per-entry": {Hash},
	}
	for _, s := range []struct {
		name string
		set  bool
	}{
		{"features", e.Features != 0}, {"sigma", e.Sigma != 0}, {"omega", e.Omega != 0}, {"levels", e.Levels != 0},
		{"coarsest", e.Coarsest != 0}, {"finest", e.Finest != 0}, {"table", e.Table != 0}, {"per-entry", e.PerEntry != 0},
	} {
		has := false
		for _, kind := range belongs[s.name] {
			has = has || kind == e.Kind
		}
		if s.set && !has && DefaultEncoding(e.Kind) != (Encoding{Kind: e.Kind}) {
			return bad("%s is a setting of the encoding %s, not of %s", s.name, belongs[s.name][0], e.Kind)
		}
	}
	switch e.Kind {
	case Frequency:
		if e.Features < 4 || e.Features%4 != 0 || e.Features/4 > maxOctaves {
			return bad("features is %d: it must be a multiple of 4 (sine and cosine for each of two axes), 4 to %d", e.Features, 4*maxOctaves)
		}
	case Fourier:
		if e.Features < 2 || e.Features%2 != 0 || e.Features > maxFeatures {
			return bad("features is %d: it must be a multiple of 2 (sine and cosine of each wave), 2 to %d", e.Features, maxFeatures)
		}
		if !(e.Sigma > 0) || e.Sigma > 1e6 {
			return bad("sigma is %v: it must be above 0, at most 1e6 cycles per picture", e.Sigma)
		}
	case SIREN:
		if !(e.Omega > 0) || e.Omega > 1e6 {
			return bad("omega is %v: it must be above 0, at most 1e6", e.Omega)
		}
	case Hash:
		switch {
		case e.Levels < 1 || e.Levels > maxLevels:
			return bad("levels is %d: it must be 1 to %d", e.Levels, maxLevels)
		case e.Coarsest < 1 || e.Coarsest > hashgrid.MaxCells:
			return bad("coarsest is %d: it must be 1 to %d cells", e.Coarsest, hashgrid.MaxCells)
		case e.Finest != 0 && (e.Finest < e.Coarsest || e.Finest > hashgrid.MaxCells):
			return bad("finest is %d: it must be %d (the coarsest) to %d cells", e.Finest, e.Coarsest, hashgrid.MaxCells)
		case e.Table < 16 || e.Table > maxTable || e.Table&(e.Table-1) != 0:
			return bad("table is %d: it must be a power of two, 16 to %d", e.Table, maxTable)
		case e.PerEntry < 1 || e.PerEntry > hashgrid.MaxFeatures:
			return bad("per-entry is %d: it must be 1 to %d", e.PerEntry, hashgrid.MaxFeatures)
		}
	default:
		return bad("there is no encoding %q: there are %s", e.Kind, strings.Join(Encodings, ", "))
	}
	return nil
}

// inputs returns how many numbers the network gets.
func (e Encoding) inputs() int {
	switch e.Kind {
	case SIREN:
		return 2
	case Hash:
		return e.Levels * e.PerEntry
	}
	return e.Features
}

// levels returns the grids of a hash encoding over a picture.
func (e Encoding) levels(width, height int) []hashgrid.Level {
	longer := max(width, height)
	var list []hashgrid.Level
	for l := range e.Levels {
		cells := float64(e.Coarsest)
		if e.Levels > 1 {
			cells *= math.Pow(float64(e.Finest)/float64(e.Coarsest), float64(l)/float64(e.Levels-1))
		}
		along := func(side int) int { return max(1, int(math.Round(cells*float64(side)/float64(longer)))) }
		g := hashgrid.Level{Across: along(width), Down: along(height)}
		g.Entries = min(e.Table, (g.Across+2)*(g.Down+2))
		list = append(list, g)
	}
	return list
}

// entries returns the rows of a hash encoding's table.
func (e Encoding) entries(width, height int) int {
	n := 0
	for _, l := range e.levels(width, height) {
		n += l.Entries
	}
	return n
}

// encoder makes the inputs of a network of positions.
type encoder interface {
	encode(positions *autograd.Node) *autograd.Node // [n, 2] to [n, inputs]
	params() []*autograd.Node                       // what training changes
	fixed() map[string]*tensor.Tensor               // what it does not, and a model file needs
	free()
}

// encoder returns the encoder of valid settings, with what it trains or keeps drawn from rng.
func (e Encoding) encoder(d tensor.Device, rng *tensor.RNG, width, height int) encoder {
	switch e.Kind {
	case Frequency:
		return frequencies{octaves: e.Features / 4}
	case Fourier:
		return &fourier{waves: rng.Normal(d, 0, e.Sigma, 2, e.Features/2).Retain()}
	case SIREN:
		return centred{}
	}
	grid := hashgrid.New(d, e.levels(width, height), e.PerEntry)
	// Small, so that what is not trained yet does not show. Source: Müller et al. 2022, §4.
	return &grids{grid, autograd.Param(rng.Uniform(d, -1e-4, 1e-4, grid.Entries, e.PerEntry), tableName)}
}

// none is what encoders without memory share.
type none struct{}

func (none) params() []*autograd.Node         { return nil }
func (none) fixed() map[string]*tensor.Tensor { return nil }
func (none) free()                            {}

// frequencies encodes each coordinate in octaves.
type frequencies struct {
	none
	octaves int
}

func (f frequencies) encode(positions *autograd.Node) *autograd.Node {
	c := positions.Value()
	n := c.Shape()[0]
	return sinesAndCosines(octavesMap, tensor.Empty(c.Device(), n, 4*f.octaves), 2*n, f.octaves, c.Reshape(2*n, 1))
}

// fourier encodes positions in waves.
type fourier struct {
	none
	waves *tensor.Tensor // [2, features/2]
}

// wavesName is the name of fourier's waves in a model file.
const wavesName = "encoding.frequencies"

func (f *fourier) encode(positions *autograd.Node) *autograd.Node {
	c, b := positions.Value(), f.waves
	n, waves := c.Shape()[0], b.Shape()[1]
	return sinesAndCosines(wavesMap, tensor.Empty(c.Device(), n, 2*waves), n, waves,
		c.Slice(1, 0, 1), c.Slice(1, 1, 2), b.Select(0, 0), b.Select(0, 1))
}

func (f *fourier) fixed() map[string]*tensor.Tensor {
	return map[string]*tensor.Tensor{wavesName: f.waves}
}

func (f *fourier) free() { f.waves.Free() }

// centred maps the unit square to [−1, 1]², as SIREN takes it.
type centred struct{ none }

func (centred) encode(positions *autograd.Node) *autograd.Node {
	return positions.MulScalar(2).SubScalar(1)
}

// grids looks features up in grids.
type grids struct {
	grid  *hashgrid.Grid
	table *autograd.Node
}

// tableName is the name of the table among the parameters.
const tableName = "encoding.table"

func (h *grids) encode(positions *autograd.Node) *autograd.Node {
	return h.grid.Encode(h.table, positions)
}

func (h *grids) params() []*autograd.Node         { return []*autograd.Node{h.table} }
func (h *grids) fixed() map[string]*tensor.Tensor { return nil }

func (h *grids) free() {
	h.grid.Free()
	h.table.Free()
}
