package pace

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// spin is the last part of a wait, in which a pacer does not sleep: about what
// a sleep overshoots by. More would hold a processor for longer; less would
// come late more often.
const spin = 40 * time.Microsecond

// sleeper sleeps by a timer file of the kernel (timerfd_create(2)), which it
// reads from in a thread of its own. By Go's poller, which time.Sleep and
// non-blocking files wait for, somebody has to be there to poll, and then to
// run what is ready; nanosleep(2) would have the thread's timer slack of 50 µs
// added to it.
type sleeper struct {
	timer   int     // file descriptor
	expired [8]byte // how often: read, and of no interest
}

func (s *sleeper) open() (err error) {
	if s.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC); err != nil {
		return fmt.Errorf("creating a timer to pace arrivals: %w", err)
	}
	return nil
}

// sleep sleeps for d, which is above 0, or less if a signal comes.
func (s *sleeper) sleep(d time.Duration) error {
	once := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(s.timer, 0, &once, nil); err != nil {
		return fmt.Errorf("setting the timer that paces arrivals: %w", err)
	}
	if _, err := unix.Read(s.timer, s.expired[:]); err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("waiting for the timer that paces arrivals: %w", err)
	}
	return nil
}

func (s *sleeper) close() error { return unix.Close(s.timer) }
