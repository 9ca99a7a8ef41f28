// Package shapecache keeps what was made for some keys, such as recordings for shapes of inputs: so many at most, of
// which those that were not used for longest are freed.
package shapecache

import "slices"

// Cache is what was made, the one used last first. The zero Cache is empty.
type Cache[T interface{ Free() }] struct {
	list  []entry[T]
	stats Stats
}

type entry[T any] struct {
	key  string
	made T
}

// Stats counts what a Cache did.
type Stats struct {
	Hits      int // that were found
	Made      int // that were added
	Evictions int // that were freed for others
}

// Find returns what was made for a key, which becomes the one used last.
func (c *Cache[T]) Find(key string) (made T, found bool) {
	i := slices.IndexFunc(c.list, func(e entry[T]) bool { return e.key == key })
	if i < 0 {
		return made, false
	}
	e := c.list[i]
	copy(c.list[1:i+1], c.list[:i])
	c.list[0] = e
	c.stats.Hits++
	return e.made, true
}

// Add keeps what was made for a key that Find did not find. Those that are more than most are freed.
func (c *Cache[T]) Add(key string, made T, most int) {
	c.list = slices.Insert(c.list, 0, entry[T]{key, made})
	c.stats.Made++
	for len(c.list) > most {
		last := len(c.list) - 1
		c.list[last].made.Free()
		c.list = slices.Delete(c.list, last, last+1)
		c.stats.Evictions++
	}
}

// All returns what there is, the one used last first.
func (c *Cache[T]) All() []T {
	var all []T
	for _, e := range c.list {
		all = append(all, e.made)
	}
	return all
}

// Stats returns what c did so far.
func (c *Cache[T]) Stats() Stats { return c.stats }

// Free frees all that there is.
func (c *Cache[T]) Free() {
	for _, e := range c.list {
		e.made.Free()
	}
	c.list = nil
}
