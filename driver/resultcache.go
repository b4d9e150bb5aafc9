package driver

// ResultCache is what a system has that answers a query from the answer of an earlier, equal
// one. Caches of data, indexes, plans and newest values are not meant: new queries find
// these filled, too.
type ResultCache struct {
	Name string `json:"name,omitempty"` // "query cache"; empty: none is known
	Off  string `json:"off,omitempty"`  // how tsmark keeps it from answering; empty: it may answer
}

// Answers reports whether it may answer queries that tsmark measures.
func (c ResultCache) Answers() bool { return c.Name != "" && c.Off == "" }

// String says it in words.
func (c ResultCache) String() string {
	switch {
	case c.Name == "":
		return "none known"
	case c.Off == "":
		return c.Name + ", which may answer queries that were run before"
	}
	return c.Name + ", off by " + c.Off
}
