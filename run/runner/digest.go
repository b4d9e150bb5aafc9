package runner

import (
	"context"

	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/generate"
)

// digest computes the content digest of what is loaded or asked about, where it
// was asked for and is not known yet. Rows of a file are those of the file.
func (x *execution) digest(ctx context.Context) error {
	if !x.plan.experiment.Digest || x.run.Dataset.Digest != "" {
		return nil
	}
	dataset := x.dataset
	if x.file != nil {
		rows, err := x.parse(ctx, x.schema())
		if err != nil {
			return err
		}
		dataset = rows
		if limit := x.plan.experiment.Load.Limit; limit > 0 {
			dataset = workload.Limited(rows, limit)
		}
	}
	task := x.Display.Start("computing the digest of the dataset", "rows", 0)
	digest, err := generate.DigestOf(ctx, dataset, func(rows int) { task.Add(int64(rows)) })
	if err != nil {
		task.Fail(reason(ctx, err))
		return err
	}
	task.Done(digest)
	x.run.Dataset.Digest = digest
	return nil
}
