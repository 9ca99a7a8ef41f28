package imagefit

import (
	"encoding/json"
	"fmt"
	"math"
)

// Colour says which channels an image has, and how deep they are stored. The zero value is red,
// green and blue in 8 bits.
type Colour struct {
	Gray  bool // one channel in place of red, green and blue
	Alpha bool // a last channel, by which the others are multiplied
	Deep  bool // stored in 16 bits
}

// Channels returns the number of channels.
func (c Colour) Channels() int {
	n := 3
	if c.Gray {
		n = 1
	}
	if c.Alpha {
		n++
	}
	return n
}

// Bits returns the depth of a stored channel.
func (c Colour) Bits() int {
	if c.Deep {
		return 16
	}
	return 8
}

var colourNames = map[[2]bool]string{
	{false, false}: "rgb", {false, true}: "rgba", {true, false}: "gray", {true, true}: "gray-alpha",
}

// String names the channels and their depth.
func (c Colour) String() string {
	return fmt.Sprintf("%s, %d bits", colourNames[[2]bool{c.Gray, c.Alpha}], c.Bits())
}

// colourJSON is a Colour in a model file.
type colourJSON struct {
	Channels string `json:"channels"` // rgb, rgba, gray or gray-alpha
	Bits     int    `json:"bits"`     // 8 or 16
}

// MarshalJSON writes {"channels":"rgb","bits":8}.
func (c Colour) MarshalJSON() ([]byte, error) {
	return json.Marshal(colourJSON{colourNames[[2]bool{c.Gray, c.Alpha}], c.Bits()})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Colour) UnmarshalJSON(raw []byte) error {
	var j colourJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	for key, name := range colourNames {
		if name == j.Channels && (j.Bits == 8 || j.Bits == 16) {
			*c = Colour{key[0], key[1], j.Bits == 16}
			return nil
		}
	}
	return fmt.Errorf("colour %q of %d bits: there are rgb, rgba, gray and gray-alpha of 8 and 16", j.Channels, j.Bits)
}

// peak is the largest stored value.
func (c Colour) peak() float64 {
	if c.Deep {
		return 0xffff
	}
	return 0xff
}

// quantize returns a value as it is stored, clamped and rounded: a whole number up to peak.
func quantize(v float32, peak float64) float64 {
	if !(v > 0) { // NaN too
		return 0
	}
	return math.Floor(float64(min(v, 1)*float32(peak) + 0.5))
}
