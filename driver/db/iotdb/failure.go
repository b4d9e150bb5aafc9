package iotdb

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/apache/iotdb-client-go/v2/client"
	"github.com/apache/iotdb-client-go/v2/common"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/internal/printable"
)

// redirected is the status for accepted rows if the server knows a better node for them.
const redirected = client.RedirectionRecommend

// errDispatch is the status of a statement that the server sent to a missing region.
const errDispatch = 306

// failure is a server's error for a call.
type failure struct {
	code    int32
	message string
}

// Error is one line.
func (f *failure) Error() string { return fmt.Sprintf("%s (error %d)", f.message, f.code) }

// statusError returns the errors in a status; nil: none. The status of several tablets has one for each.
func statusError(s *common.TSStatus) error {
	if s == nil {
		return errors.New("the server answered without a status")
	}
	switch s.Code {
	case client.SuccessStatus, redirected:
		return nil
	case client.MultipleError:
		for _, sub := range s.SubStatus {
			if err := statusError(sub); err != nil {
				return err
			}
		}
		if len(s.SubStatus) > 0 {
			return nil
		}
	}
	f := &failure{code: s.Code, message: "it did not say why"}
	if s.Message != nil && *s.Message != "" {
		f.message = printable.OneLine(*s.Message)
	}
	return f
}

// code is the number of an error that a server reported; 0: another error.
func code(err error) int32 {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.code
	}
	return 0
}

// refusing marks an error of reading a result that does not come from the connection.
func refusing(err error) error {
	if err == nil {
		return nil
	}
	return &limit.Refused{Err: err}
}

// connecting explains an error of connect, whose own time limit was bounded. The server may have
// accepted the connection before.
func (c *config) connecting(ctx, bounded context.Context, connected bool, err error) error {
	to := fmt.Sprintf("connecting to IoTDB at %s as user %s", c.Address(), c.User)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", to, context.Cause(ctx))
	}
	switch code(err) {
	case 0:
	case client.WrongLoginPassword, client.InitAuthError, client.UserNotExist:
		return fmt.Errorf("%s: the server refuses the password; give another user or password (%w)", to, err)
	case client.StartUpError, client.ShutDownError, client.StorageEngineNotReady, client.InternalServerError:
		return &driver.Temporary{Err: fmt.Errorf("%s: %w: %w", to, driver.ErrUnreachable, err), Refused: true}
	default:
		return fmt.Errorf("%s: %w", to, err)
	}
	return connection.ConnectError(bounded, to, c.Timeout, connected && c.Encryption() != nil, err)
}

// explain explains an error of a connection. It wraps ctx's error if that ended the operation, a
// driver.Temporary if the operation can be retried, driver.ErrUnreachable if the connection has broken,
// and syscall.ENOSPC if the server's disk is full.
func (c *conn) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	switch own := connection.ClientError(ctx, c.net, err); {
	case own != nil:
		return own
	case driver.AsTemporary(err) != nil:
		return err
	}
	switch code(err) {
	case 0:
		return connection.BrokenError(c.of.Address(), err)
	case client.DiskSpaceInsufficient:
		return fmt.Errorf("%w; free space on the server (%w)", syscall.ENOSPC, err)
	case client.NoPermission:
		return driver.NewDeniedError(err, "")
	case client.SystemReadOnly:
		return fmt.Errorf("%w; the server has become read-only, as when its disk is full: free space, and SET SYSTEM TO RUNNING", err)
	case client.WriteProcessReject: // it currently has no memory for the rows
		return &driver.Temporary{Err: err, Refused: true}
	case client.StorageEngineNotReady, client.ShutDownError, client.CanNotConnectDatanode, client.ConsensusNotInitialized, client.NoAvailableRegionGroup:
		return &driver.Temporary{Err: fmt.Errorf("%w: %w", driver.ErrUnreachable, err)}
	}
	return err
}
