package main

import (
	"cmp"
	"image"
	"math"
	"slices"

	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
)

type point struct{ x, y float64 }

func (p point) sub(q point) point { return point{p.x - q.x, p.y - q.y} }

// cross is positive if q is clockwise of p, as y grows downwards.
func (p point) cross(q point) float64 { return p.x*q.y - p.y*q.x }

// quad is the corners of a rectangle, clockwise from where its text begins.
type quad [4]point

func (q quad) center() point { return point{(q[0].x + q[2].x) / 2, (q[0].y + q[2].y) / 2} }

func distance(p, q point) float64 { return math.Hypot(p.x-q.x, p.y-q.y) }

func (q quad) width() float64 { return max(distance(q[0], q[1]), distance(q[3], q[2])) }

func (q quad) height() float64 { return max(distance(q[0], q[3]), distance(q[1], q[2])) }

// degrees is by how much the text is turned clockwise.
func (q quad) degrees() float64 { return math.Atan2(q[1].y-q[0].y, q[1].x-q[0].x) * 180 / math.Pi }

func (q quad) pixels() []image.Point {
	corners := make([]image.Point, len(q))
	for i, p := range q {
		corners[i] = image.Pt(int(p.x), int(p.y))
	}
	return corners
}

// cut returns what is in q as a picture that begins at q[0].
func (q quad) cut(img *image.RGBA) *image.RGBA {
	w, h := max(1, math.Round(q.width())), max(1, math.Round(q.height()))
	out := image.NewRGBA(image.Rect(0, 0, int(w), int(h)))
	right, down := q[1].sub(q[0]), q[3].sub(q[0])
	if det := right.cross(down); det > 0 { // (x, y) = q[0] + s·right + t·down is solved for s and t
		a, b, c, d := w*down.y/det, -w*down.x/det, -h*right.y/det, h*right.x/det
		matrix := f64.Aff3{a, b, -a*q[0].x - b*q[0].y, c, d, -c*q[0].x - d*q[0].y}
		draw.BiLinear.Transform(out, matrix, img, img.Rect, draw.Src, nil)
	}
	return out
}

const (
	likelyText = 0.3 // least probability of a pixel that belongs to text
	surelyText = 0.5 // least mean probability in a rectangle around text
	leastSide  = 3   // pixels of a rectangle's shorter side

	// The detector is trained to find text without its border: area/perimeter is put around it so many times.
	expansion = 1.6
)

// findText returns rectangles around the connected regions of pixels that are likely text.
func findText(likely []float32, w, h int) (list []quad) {
	seen := make([]bool, w*h)
	var region []int
	for start := range likely {
		if seen[start] || likely[start] <= likelyText {
			continue
		}
		region = append(region[:0], start)
		seen[start] = true
		for i := 0; i < len(region); i++ {
			x, y := region[i]%w, region[i]/w
			for ny := max(0, y-1); ny <= min(h-1, y+1); ny++ {
				for nx := max(0, x-1); nx <= min(w-1, x+1); nx++ {
					if at := ny*w + nx; !seen[at] && likely[at] > likelyText {
						seen[at] = true
						region = append(region, at)
					}
				}
			}
		}
		points := make([]point, len(region))
		for i, at := range region {
			points[i] = point{float64(at%w) + 0.5, float64(at/w) + 0.5}
		}
		r := smallestRectangle(convexHull(points))
		if min(r.width, r.height) < leastSide || r.mean(likely, w, h) < surelyText {
			continue
		}
		by := 2 * expansion * r.width * r.height / (2 * (r.width + r.height))
		r.width, r.height = r.width+by, r.height+by
		list = append(list, r.quad())
	}
	return list
}

// convexHull returns the corners of the convex hull of points, clockwise: Andrew's monotone chain.
func convexHull(points []point) []point {
	slices.SortFunc(points, func(p, q point) int { return cmp.Or(cmp.Compare(p.x, q.x), cmp.Compare(p.y, q.y)) })
	chain := func(points []point) (hull []point) {
		for _, p := range points {
			for len(hull) >= 2 && hull[len(hull)-1].sub(hull[len(hull)-2]).cross(p.sub(hull[len(hull)-1])) <= 0 {
				hull = hull[:len(hull)-1]
			}
			hull = append(hull, p)
		}
		return hull[:len(hull)-1]
	}
	if len(points) < 3 {
		return points
	}
	upper := chain(points)
	slices.Reverse(points)
	return append(upper, chain(points)...)
}

// rectangle is one at an angle of −45° to 45°.
type rectangle struct {
	center        point
	along         point // the direction of its width, of length 1
	width, height float64
}

// smallestRectangle returns the rectangle of least area around a convex polygon, which has a side on one of the
// polygon's.
func smallestRectangle(hull []point) (best rectangle) {
	least := math.Inf(1)
	for i, p := range hull {
		side := hull[(i+1)%len(hull)].sub(p)
		length := math.Hypot(side.x, side.y)
		along := point{1, 0}
		if length > 0 {
			along = point{side.x / length, side.y / length}
		}
		for along.x < math.Abs(along.y) || along.y == -along.x { // turned by 90° until it points to the right
			along = point{-along.y, along.x}
		}
		low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
		for _, q := range hull {
			u, v := q.x*along.x+q.y*along.y, along.cross(q)
			low, high = point{min(low.x, u), min(low.y, v)}, point{max(high.x, u), max(high.y, v)}
		}
		w, h := high.x-low.x, high.y-low.y
		if area := w * h; area < least {
			u, v := (low.x+high.x)/2, (low.y+high.y)/2
			least = area
			best = rectangle{point{u*along.x - v*along.y, u*along.y + v*along.x}, along, w, h}
		}
	}
	return best
}

// quad returns the corners from the upper left, clockwise.
func (r rectangle) quad() quad {
	at := func(u, v float64) point {
		u, v = u*r.width/2, v*r.height/2
		return point{r.center.x + u*r.along.x - v*r.along.y, r.center.y + u*r.along.y + v*r.along.x}
	}
	return quad{at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)}
}

// mean returns the mean of a map in the rectangle.
func (r rectangle) mean(values []float32, w, h int) float64 {
	reach := math.Hypot(r.width, r.height)/2 + 1
	sum, n := 0.0, 0
	for y := max(0, int(r.center.y-reach)); y <= min(h-1, int(r.center.y+reach)); y++ {
		for x := max(0, int(r.center.x-reach)); x <= min(w-1, int(r.center.x+reach)); x++ {
			d := point{float64(x) + 0.5, float64(y) + 0.5}.sub(r.center)
			u, v := d.x*r.along.x+d.y*r.along.y, r.along.cross(d)
			if math.Abs(u) <= r.width/2 && math.Abs(v) <= r.height/2 {
				sum, n = sum+float64(values[y*w+x]), n+1
			}
		}
	}
	return sum / float64(max(n, 1))
}
