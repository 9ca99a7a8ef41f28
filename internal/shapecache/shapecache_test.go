package shapecache

import (
	"slices"
	"testing"
)

type thing struct {
	name  string
	freed bool
}

func (t *thing) Free() { t.freed = true }

// TestCache: the least recently used goes first, what was found is used, and all is counted.
func TestCache(t *testing.T) {
	var c Cache[*thing]
	all := map[string]*thing{}
	add := func(key string, most int) {
		all[key] = &thing{name: key}
		c.Add(key, all[key], most)
	}
	names := func() (list []string) {
		for _, x := range c.All() {
			list = append(list, x.name)
		}
		return list
	}
	if _, found := c.Find("a"); found || c.All() != nil {
		t.Error("an empty cache has something")
	}
	add("a", 2)
	add("b", 2)
	if x, found := c.Find("a"); !found || x != all["a"] {
		t.Error("a is not found")
	}
	add("c", 2)
	if got := names(); !slices.Equal(got, []string{"c", "a"}) || !all["b"].freed || all["a"].freed || all["c"].freed {
		t.Errorf("%v, b freed: %v", got, all["b"].freed)
	}
	if _, found := c.Find("b"); found {
		t.Error("what was freed is found")
	}
	add("d", 1)
	if got := names(); !slices.Equal(got, []string{"d"}) || !all["a"].freed || !all["c"].freed {
		t.Errorf("%v", got)
	}
	if got := c.Stats(); got != (Stats{Hits: 1, Made: 4, Evictions: 3}) {
		t.Errorf("%+v", got)
	}
	c.Free()
	if !all["d"].freed || c.All() != nil {
		t.Error("Free leaves something")
	}
}
