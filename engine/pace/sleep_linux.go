package pace

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// spin is the last part of a wait, in which a pacer does not sleep: about what
// a sleep overshoots by. More would hold a processor for longer; less would
// come late more often.
const spin = 40 * time.Microsecond

// sleeper sleeps by a timer file of the kernel (timerfd_create(2)), which Go's
// poller waits for. time.Sleep is rounded up to a whole millisecond by the
// poller where nothing else runs; nanosleep(2) would keep a thread, and have
// the timer slack of 50 µs added to it.
type sleeper struct {
	timer   *os.File
	fd      int
	expired [8]byte // how often: read, and of no interest
}

func (s *sleeper) open() (err error) {
	s.fd, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("creating a timer to pace arrivals: %w", err)
	}
	s.timer = os.NewFile(uintptr(s.fd), "timer")
	return nil
}

// sleep sleeps for d, which is above 0.
func (s *sleeper) sleep(d time.Duration) error {
	once := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(s.fd, 0, &once, nil); err != nil {
		return fmt.Errorf("setting the timer that paces arrivals: %w", err)
	}
	if _, err := s.timer.Read(s.expired[:]); err != nil {
		return fmt.Errorf("waiting for the timer that paces arrivals: %w", err)
	}
	return nil
}

func (s *sleeper) close() error { return s.timer.Close() }
