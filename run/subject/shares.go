package subject

import (
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// ShareRows is the rows of a share.
func (s *Subject) ShareRows(share workload.Share) workload.Dataset {
	if _, divided := s.Dataset.(workload.Divided); divided || s.Owner == nil {
		return share.Dataset(s.Dataset)
	}
	return s.FilterRows(share, s.Dataset)
}

// FilterRows is the rows of a share, of some rows of the dataset.
func (s *Subject) FilterRows(share workload.Share, rows workload.Dataset) workload.Dataset {
	return filteredRows{rows, s.ShareFilter(share)}
}

// ShareOwner says which of the workers of a share writes a batch; nil: whoever is free.
func (s *Subject) ShareOwner(share workload.Share) func(*series.Batch) int {
	if s.Owner == nil {
		return nil
	}
	first, _ := share.Range(s.Plan.Settings.Load.Workers)
	return func(b *series.Batch) int { return s.Owner(b) - first }
}

// ShareFilter returns what leaves the rows of a share of a pass over the dataset: those of
// its writers where each has series of its own.
func (s *Subject) ShareFilter(share workload.Share) func(workload.Reader) workload.Reader {
	if s.Owner == nil || share.Single() {
		return share.Reader
	}
	first, end := share.Range(s.Plan.Settings.Load.Workers)
	return func(r workload.Reader) workload.Reader {
		return filteredReader{r, func(b *series.Batch) bool { w := s.Owner(b); return first <= w && w < end }}
	}
}

// filteredRows is what is left of the rows of a dataset.
type filteredRows struct {
	workload.Dataset
	filter func(workload.Reader) workload.Reader
}

// Open implements workload.Dataset.
func (o filteredRows) Open() workload.Reader { return o.filter(o.Dataset.Open()) }

// filteredReader leaves the batches of some writers, of a dataset whose batches have rows of
// one each.
type filteredReader struct {
	workload.Reader
	keeps func(*series.Batch) bool
}

// Next implements workload.Reader.
func (r filteredReader) Next(b *series.Batch, max int) error {
	for {
		if err := r.Reader.Next(b, max); err != nil || r.keeps(b) {
			return err
		}
	}
}
