package cli

import (
	"cmp"
	"context"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/run/store"
)

// defaultResults is the default folder of runs, and of the files of runs that a
// database keeps.
const defaultResults = "tsmark-results"

// openResults opens the results to add runs to them.
func (a *app) openResults(ctx context.Context) (*store.Store, error) {
	store.RemoveLeftovers(a.folder())
	return store.Open(ctx, a.results, report.StoreFigures)
}

// existingResults opens results that are there.
func (a *app) existingResults(ctx context.Context) (*store.Store, error) {
	return store.OpenExisting(ctx, a.results, report.StoreFigures)
}

// folder is the folder for the files of runs: operation logs, pages, embedded
// databases. They stay on the machine that made them, even if the runs are in a
// database.
func (a *app) folder() string {
	if store.Database(a.results) {
		return cmp.Or(a.files, defaultResults)
	}
	return a.results
}

// elsewhere says where a missing file may be.
func (a *app) elsewhere() string {
	if store.Database(a.results) {
		return "; the files of a run are on the machine that executed it"
	}
	return ""
}
