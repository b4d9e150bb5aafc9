package driver

// ResultCache is a system's cache that answers a query with the result of an earlier, equal query. It
// is not a cache of data, indexes, plans or newest values: new queries benefit from these too.
type ResultCache struct {
	Name string `json:"name,omitempty"` // "query cache"; empty: none is known
	Off  string `json:"off,omitempty"`  // how tsmark prevents it from answering; empty: it may answer
}

// Answers reports whether the cache may answer queries that tsmark measures.
func (c ResultCache) Answers() bool { return c.Name != "" && c.Off == "" }

// String describes the cache in words.
func (c ResultCache) String() string {
	switch {
	case c.Name == "":
		return "none known"
	case c.Off == "":
		return c.Name + ", which may answer queries that were run before"
	}
	return c.Name + ", off by " + c.Off
}
