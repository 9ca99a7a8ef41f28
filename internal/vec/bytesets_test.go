//go:build !amd64

package vec

// moreByteSets is none: there are no loops beside those of the sets.
var moreByteSets []*Set
