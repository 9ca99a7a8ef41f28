package vec

import "unsafe"

// shortCopy is how many bytes a row has at least that the loop of Copy copies.
const shortCopy = 16

// Copy is planes of rows of N elements that are copied: so many elements lie between two planes, and between two rows, of both sides.
type Copy struct {
	Planes, Rows, N                    int
	ToPlane, ToRow, FromPlane, FromRow int
}

// Copy copies elements. No row may lie on another.
func (l *Loops[T]) Copy(to, from []T, c Copy) {
	if min(c.Planes, c.Rows, c.N) <= 0 {
		return
	}
	size := int(unsafe.Sizeof(from[0]))
	if l.copies == nil || c.N*size < shortCopy {
		for p := range c.Planes {
			for r := range c.Rows {
				copy(to[p*c.ToPlane+r*c.ToRow:][:c.N], from[p*c.FromPlane+r*c.FromRow:][:c.N])
			}
		}
		return
	}
	// Assembly knows no bounds.
	_, _ = to[(c.Planes-1)*c.ToPlane+(c.Rows-1)*c.ToRow+c.N-1], from[(c.Planes-1)*c.FromPlane+(c.Rows-1)*c.FromRow+c.N-1]
	l.copies(c.Planes, c.Rows, c.N*size, (*byte)(unsafe.Pointer(&to[0])), c.ToPlane*size, c.ToRow*size,
		(*byte)(unsafe.Pointer(&from[0])), c.FromPlane*size, c.FromRow*size)
}
