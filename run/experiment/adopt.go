package experiment

// adopt checks the settings for data that tsmark did not load.
func (c *checker) adopt(e *Experiment) {
	if !e.Adopt {
		return
	}
	for _, other := range []struct {
		path string
		set  bool
	}{
		{"load.file", e.Load.File != ""},
		{"load.replace", e.Load.Replace},
		{"load.after", len(e.Load.After) > 0},
		{"load.columns", e.Load.Columns != ""},
		{"mixed", e.Mixed != Mixed{}},
		{"materialize", e.Materialize.Enabled()},
	} {
		if other.set {
			c.add("adopt", "queries existing data and loads nothing; omit %s", other.path)
		}
	}
	if e.Workload.Seed == 0 {
		c.add("workload.seed", "0 draws another dataset each time; give the seed by which the data was generated")
	}
}
