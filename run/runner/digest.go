package runner

import (
	"context"

	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/generate"
)

// digest computes the content digest of what is loaded or queried, where it
// was asked for and is not known yet. Rows of a file are those of the file.
func (s *subject) digest(ctx context.Context) error {
	if !s.plan.experiment.Digest || s.record.Digest != "" {
		return nil
	}
	dataset := s.dataset
	if s.file != nil {
		rows, err := s.parse(ctx, s.schema())
		if err != nil {
			return err
		}
		dataset = rows
		if limit := s.plan.experiment.Load.Limit; limit > 0 {
			dataset = workload.Limited(rows, limit)
		}
	}
	task := s.display.Start("computing the digest of the dataset", "rows", 0)
	digest, err := generate.DigestOf(ctx, dataset, func(rows int) { task.Add(int64(rows)) })
	if err != nil {
		fail(ctx, task, err)
		return err
	}
	task.Done(digest)
	s.record.Digest = digest
	return nil
}
