package oracle

import (
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Collision is a row of a shared series (see series.Schema) whose time an earlier row of the series has
// too, or of one with equal tags. A system that identifies rows by tags and time keeps one of the two, or values of both.
type Collision struct {
	Table  *series.Table
	Series uint32 // the representative
	Time   int64
	Older  int64 // number of the earlier row, counted from 0 in the order of the dataset
	// Values are those of the earlier and of the later row, in the order of the table's fields.
	Values [2][]query.Value
}

// rememberedRows is the number of rows of shared series after which an older one may be forgotten, which
// bounds the memory. TSBS defers rows by a few batches of ten rows, and one row in 800 is of a shared series.
const rememberedRows = 16_384

// collisionFinder finds the collisions of the rows that pass. It allocates nothing for rows of other
// series.
type collisionFinder struct {
	schema      *series.Schema
	rows        int64 // so far
	now, before map[rowIdentity]sharedRow
	found       []Collision
}

// rowIdentity is what identifies a row.
type rowIdentity struct {
	table  *series.Table
	series uint32
	time   int64
}

type sharedRow struct {
	number int64
	values []query.Value
}

func (c *collisionFinder) add(run *series.Run) {
	for _, s := range c.schema.Shared {
		for row, id := range run.Series {
			if s.Has(id) {
				c.look(run, row)
			}
		}
	}
	c.rows += int64(run.Rows())
}

// look notes a row of a shared series.
func (c *collisionFinder) look(run *series.Run, row int) {
	id := rowIdentity{run.Table, c.schema.Representative(run.Series[row]), run.Times[row]}
	this := sharedRow{number: c.rows + int64(row)}
	for f := range run.Columns {
		this.values = append(this.values, ValueOf(run, f, row))
	}
	older, known := c.now[id]
	if !known {
		older, known = c.before[id]
	}
	if known {
		c.found = append(c.found, Collision{id.table, id.series, id.time, older.number, [2][]query.Value{older.values, this.values}})
	}
	if c.now == nil || len(c.now) == rememberedRows {
		c.before, c.now = c.now, make(map[rowIdentity]sharedRow)
	}
	c.now[id] = this
}

// omitCollided returns the rows of a sample that did not collide: which of two rows a system keeps is unknown.
func omitCollided(sample []Row, collisions []Collision, schema *series.Schema) []Row {
	if len(collisions) == 0 {
		return sample
	}
	collided := make(map[rowIdentity]bool)
	for i := range collisions {
		collided[rowIdentity{collisions[i].Table, collisions[i].Series, collisions[i].Time}] = true
	}
	var clear []Row
	for i := range sample {
		if !collided[rowIdentity{sample[i].Table, schema.Representative(sample[i].Series), sample[i].Time}] {
			clear = append(clear, sample[i])
		}
	}
	return clear
}

// KeepOne notes that the survey is of a dataset without the earlier rows of collisions.
func (s *Survey) KeepOne(collisions []Collision) {
	s.OneOf, s.Sample = collisions, omitCollided(s.Sample, collisions, s.Schema)
}
