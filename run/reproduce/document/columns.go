package document

// Columns is which systems make columns when rows bring tags and fields that the tables
// do not have.
type Columns struct {
	Take   []string `yaml:"take"`   // systems that do
	Refuse []string `yaml:"refuse"` // systems that do not take such rows
}
