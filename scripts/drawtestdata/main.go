// Drawtestdata draws testdata/lake.png: a landscape with smooth gradients, sharp edges and fine
// texture, so that a reconstruction shows what a network learned and what it did not. The picture
// is computed from nothing but the code below.
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
)

const width, height = 320, 240

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: drawtestdata OUT.png")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "drawtestdata:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := scene(float64(x), float64(y))
			img.SetNRGBA(x, y, color.NRGBA{channel(c.r), channel(c.g), channel(c.b), 255})
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := png.Encode(f, img); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

type rgb struct{ r, g, b float64 }

func (a rgb) mix(b rgb, t float64) rgb {
	t = min(max(t, 0), 1)
	return rgb{a.r + (b.r-a.r)*t, a.g + (b.g-a.g)*t, a.b + (b.b-a.b)*t}
}

func (a rgb) scale(s float64) rgb { return rgb{a.r * s, a.g * s, a.b * s} }

func channel(v float64) uint8 { return uint8(min(max(v, 0), 1)*255 + 0.5) }

// hash returns a number in [0, 1) that looks random, for a lattice point.
func hash(x, y int) float64 {
	h := uint32(x)*0x8da6b343 ^ uint32(y)*0xd8163841
	h ^= h >> 15
	h *= 0x2c1b3c6d
	h ^= h >> 12
	h *= 0x297a2d39
	h ^= h >> 15
	return float64(h>>8) / (1 << 24)
}

// noise interpolates the lattice smoothly; fractal sums octaves of it.
func noise(x, y float64) float64 {
	fx, fy := math.Floor(x), math.Floor(y)
	ix, iy, u, v := int(fx), int(fy), x-fx, y-fy
	u, v = u*u*(3-2*u), v*v*(3-2*v)
	top := hash(ix, iy)*(1-u) + hash(ix+1, iy)*u
	bottom := hash(ix, iy+1)*(1-u) + hash(ix+1, iy+1)*u
	return top*(1-v) + bottom*v
}

func fractal(x, y float64, octaves int) float64 {
	sum, amplitude := 0.0, 0.5
	for range octaves {
		sum += amplitude * noise(x, y)
		x, y, amplitude = 2*x+17, 2*y+31, amplitude/2
	}
	return sum
}

const shore = 150.0

// scene returns the colour at a pixel: the land above the shore, its reflection below.
func scene(x, y float64) rgb {
	if y < shore {
		return land(x, y)
	}
	depth := (y - shore) / (height - shore)
	ripple := (fractal(x/14, y/2.5, 3) - 0.45) * (4 + 26*depth)
	water := land(x+ripple, max(shore-1-(y-shore)*1.6+ripple*0.4, 0)).scale(0.72).mix(rgb{0.05, 0.16, 0.22}, 0.25+0.45*depth)
	if glint := fractal(x/7, y/1.6, 2); glint > 0.6 {
		water = water.mix(rgb{1, 0.93, 0.8}, (glint-0.6)*3*(1-depth))
	}
	return water
}

func land(x, y float64) rgb {
	c := rgb{0.16, 0.30, 0.58}.mix(rgb{0.98, 0.72, 0.48}, math.Pow(y/shore, 1.6))
	if cloud := fractal(x/55+3, y/16, 5); cloud > 0.48 {
		c = c.mix(rgb{1, 0.92, 0.86}, (cloud-0.48)*3.2)
	}
	if d := math.Hypot(x-232, y-64); d < 17 {
		c = rgb{1, 0.95, 0.78}
	} else {
		c = c.mix(rgb{1, 0.85, 0.6}, 0.55*math.Exp(-(d-17)/22))
	}
	// Three ridges, the nearer the darker; the farthest has snow.
	for i, ridge := range []struct {
		base, rise, scale float64
		tint              rgb
	}{
		{62, 62, 70, rgb{0.42, 0.45, 0.60}}, {98, 42, 45, rgb{0.24, 0.33, 0.38}}, {126, 26, 26, rgb{0.12, 0.22, 0.18}},
	} {
		top := ridge.base + ridge.rise*(0.5-fractal(x/ridge.scale+float64(i)*9, float64(i)*5, 6)) + 10
		if y < top {
			continue
		}
		rock := ridge.tint.scale(0.75 + 0.6*fractal(x/6, y/6+float64(i)*40, 4))
		if i == 0 && y < top+12+9*fractal(x/5, 3, 3) {
			rock = rgb{0.93, 0.94, 0.98}.scale(0.8 + 0.25*noise(x/3, y/3))
		}
		c = rock
	}
	// Firs along the shore.
	for n := range 46 {
		at, tall := 7*float64(n)+5*hash(n, 1), 16+16*hash(n, 2)
		up := shore - y
		if up >= 0 && up <= tall {
			half := (1 - up/tall) * tall * 0.26 * (0.62 + 0.38*math.Mod(up, 5)/5)
			if math.Abs(x-at) < half {
				c = rgb{0.04, 0.13 + 0.12*hash(int(x), int(y)), 0.09}
			}
		}
	}
	return c
}
