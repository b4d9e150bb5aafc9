package runner

import (
	"context"
	"errors"

	"github.com/tsmark/tsmark/driver"
)

// open opens the target. The error wraps ErrInput unless a server is down: then the path, or
// what is there, is not right.
func (t *plannedTarget) open(ctx context.Context, env driver.Env) (driver.DB, error) {
	db, err := t.driver.Open(ctx, env, t.options)
	if err != nil && ctx.Err() == nil && (t.caps.Embedded || errors.Is(err, driver.ErrExisting)) {
		return driver.DB{}, badInput(err)
	}
	return db, err
}

