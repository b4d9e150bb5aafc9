package document

// Columns names the systems that add columns when rows introduce tags and fields missing in the
// tables.
type Columns struct {
	Take   []string `yaml:"take"`   // systems that do
	Refuse []string `yaml:"refuse"` // systems that refuse such rows
}
