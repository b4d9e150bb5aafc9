package subject

import (
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// ShareRows returns the rows of a share.
func (s *Subject) ShareRows(share workload.Share) workload.Dataset {
	if _, divided := s.Dataset.(workload.Divided); divided || s.Owner == nil {
		return share.Dataset(s.Dataset)
	}
	return s.FilterRows(share, s.Dataset)
}

// FilterRows returns the rows of a share among some rows of the dataset.
func (s *Subject) FilterRows(share workload.Share, rows workload.Dataset) workload.Dataset {
	return filteredRows{rows, s.ShareFilter(share)}
}

// ShareOwner returns the worker of a share that writes a batch; nil: any worker.
func (s *Subject) ShareOwner(share workload.Share) func(*series.Batch) int {
	if s.Owner == nil {
		return nil
	}
	first, _ := share.Range(s.Plan.Experiment.Load.Workers)
	return func(b *series.Batch) int { return s.Owner(b) - first }
}

// ShareFilter returns a filter for the rows of a share in a pass over the dataset: the rows of its
// writers, if each has series of its own.
func (s *Subject) ShareFilter(share workload.Share) func(workload.Reader) workload.Reader {
	if s.Owner == nil || share.Single() {
		return share.Reader
	}
	first, end := share.Range(s.Plan.Experiment.Load.Workers)
	return func(r workload.Reader) workload.Reader {
		return filteredReader{r, func(b *series.Batch) bool { w := s.Owner(b); return first <= w && w < end }}
	}
}

// filteredRows is the remaining rows of a dataset.
type filteredRows struct {
	workload.Dataset
	filter func(workload.Reader) workload.Reader
}

// Open implements workload.Dataset.
func (o filteredRows) Open() workload.Reader { return o.filter(o.Dataset.Open()) }

// filteredReader keeps the batches of some writers, of a dataset whose batches belong to one writer
// each.
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
