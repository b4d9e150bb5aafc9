package client

import (
	"bufio"
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// ErrProtocol means that a server does not speak GridDB's protocol.
var ErrProtocol = errors.New("it does not speak GridDB's NoSQL protocol")

// conn is a connection to a node. One goroutine uses it at a time.
type conn struct {
	net     net.Conn
	address string // as dialed
	reader  *bufio.Reader
	head    [headerSize]byte
	body    []byte // of the current message
	most    int    // bytes that a message may have

	out     []byte // messages that were not sent yet
	begun   int    // where the message begins that is being made
	next    uint64 // id of the next request
	broken  error  // why it cannot be used any more
	timeout time.Duration
}

// begin begins a request after the pending messages.
func (c *conn) begin(s statement, partition int) (id uint64) {
	c.begun = len(c.out)
	c.next++
	c.out = appendHeader(c.out, s, partition)
	c.out = binary.LittleEndian.AppendUint64(c.out, c.next)
	return c.next
}

func appendHeader(dst []byte, s statement, partition int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, magic)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s))
	return binary.LittleEndian.AppendUint32(dst, uint32(partition))
}

// end ends the request.
func (c *conn) end() {
	binary.LittleEndian.PutUint32(c.out[c.begun+headerSize-4:], uint32(len(c.out)-c.begun-headerSize))
}

// bindContext has reads and writes end with a context, and no later than the time-out from
// now on. The function that it returns ends that.
func (c *conn) bindContext(ctx context.Context) (release func()) {
	c.wait()
	stop := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// wait has reads and writes end when the time-out has passed from now on.
func (c *conn) wait() {
	deadline := time.Time{}
	if c.timeout > 0 {
		deadline = time.Now().Add(c.timeout)
	}
	_ = c.net.SetDeadline(deadline) // one that is closed says so when it is read
}

// send writes messages.
func (c *conn) send(ctx context.Context, messages []byte) error {
	_, err := c.net.Write(messages)
	return c.explain(ctx, err)
}

// explain says why a connection cannot be used any more.
func (c *conn) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var late net.Error
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.As(err, &late) && late.Timeout():
		err = fmt.Errorf("no answer within %v: %w", c.timeout, err)
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("the server has closed the connection: %w", io.ErrUnexpectedEOF)
	}
	c.broken = err
	_ = c.net.Close() // return the first error
	return err
}

// receive reads a message. Its bytes hold until the next one. An error of the second
// kind is the server's, of that request alone.
func (c *conn) receive(ctx context.Context, first bool) (s statement, id uint64, r reader, reported error, err error) {
	if _, err := io.ReadFull(c.reader, c.head[:]); err != nil {
		return 0, 0, r, nil, c.explain(ctx, err)
	}
	if binary.LittleEndian.Uint32(c.head[:]) != magic {
		return 0, 0, r, nil, c.explain(ctx, ErrProtocol)
	}
	n := int(binary.LittleEndian.Uint32(c.head[headerSize-4:]))
	if n < 9 || n > c.most {
		return 0, 0, r, nil, c.explain(ctx, fmt.Errorf("%w: a message of %d bytes", ErrProtocol, n))
	}
	if err := c.fill(n); err != nil {
		return 0, 0, r, nil, c.explain(ctx, err)
	}
	r = reader{b: c.body}
	s = statement(r.int())
	if first {
		id = uint64(uint32(r.int()))
	} else {
		id = uint64(r.long())
	}
	result := r.byte()
	if r.err != nil || result > resultDenied {
		return 0, 0, r, nil, c.explain(ctx, ErrProtocol)
	}
	if result != resultSuccess {
		reported = r.failure(result)
		var known *Error
		if !errors.As(reported, &known) {
			return 0, 0, r, nil, c.explain(ctx, reported)
		}
	}
	return s, id, r, reported, nil
}

// fill reads the body of a message. Memory grows as bytes arrive, whatever size the message states.
func (c *conn) fill(n int) error {
	c.body = c.body[:0]
	for len(c.body) < n {
		if len(c.body) == cap(c.body) {
			grown := make([]byte, len(c.body), min(n, max(2*cap(c.body), 1<<16)))
			copy(grown, c.body)
			c.body = grown
		}
		part := c.body[len(c.body):min(cap(c.body), n)]
		if _, err := io.ReadFull(c.reader, part); err != nil {
			return err
		}
		c.body = c.body[:len(c.body)+len(part)]
	}
	return nil
}

// call sends the request that was begun last, and reads its answer.
func (c *conn) call(ctx context.Context, s statement, id uint64) (reader, error) {
	c.end()
	defer c.bindContext(ctx)()
	out := c.out
	c.out = c.out[:0]
	if err := c.send(ctx, out); err != nil {
		return reader{}, err
	}
	got, answered, r, reported, err := c.receive(ctx, s == stmtConnect)
	switch {
	case err != nil:
		return r, err
	case got != s || answered != id:
		return r, c.explain(ctx, fmt.Errorf("%w: statement %d of request %d is answered, and not %d of %d", ErrProtocol, got, answered, s, id))
	}
	return r, reported
}

// connect opens the conversation: versions, whether it is encrypted from then on, and how
// the client is to log in.
func (c *conn) connect(ctx context.Context, l Config) (mode byte, err error) {
	c.begun = len(c.out)
	c.next++
	c.out = appendHeader(c.out, stmtConnect, 0)
	c.out = binary.LittleEndian.AppendUint32(c.out, uint32(c.next))
	c.out = binary.LittleEndian.AppendUint32(c.out, uint32(l.version))
	c.out = append(c.out, 2, 0, 0, 0)
	c.out = appendBool(appendBool(c.out, l.TLS == nil), l.TLS != nil) // whether plain connections are taken, and encrypted ones
	r, err := c.call(ctx, stmtConnect, c.next)
	if said := AsError(err); said != nil && said.Code == codeSecurity {
		if l.TLS == nil {
			return 0, ErrEncrypted
		}
		return 0, ErrPlain
	}
	if err != nil {
		return 0, err
	}
	mode = r.byte()
	if len(r.b) >= 4 {
		r.int() // the server's version
	}
	if len(r.b) >= 1 {
		r.byte() // where passwords are kept
	}
	plain, secure := true, false
	if len(r.b) >= 6 {
		r.int()
		plain, secure = r.bool(), r.bool()
	}
	switch {
	case r.err != nil:
		return 0, r.err
	case l.TLS == nil && !plain:
		return 0, ErrEncrypted
	case l.TLS != nil && !secure:
		return 0, ErrPlain
	case l.TLS != nil:
		return mode, c.encrypt(ctx, l.TLS)
	}
	return mode, nil
}

// What keeps client and server apart before anybody logs in.
var (
	// ErrEncrypted means that a server takes connections with TLS alone.
	ErrEncrypted = errors.New("the server takes connections with TLS alone, as serverSslMode REQUIRED in gs_cluster.json has it")
	// ErrPlain means that a server has no TLS, as that of the Community Edition.
	ErrPlain = errors.New("the server has no TLS: the Community Edition has none, and others where sslMode is PREFERRED or REQUIRED")
)

// encrypt goes on with TLS over the connection that was opened.
func (c *conn) encrypt(ctx context.Context, config *tls.Config) error {
	if c.reader.Buffered() > 0 {
		return c.explain(ctx, ErrProtocol) // nobody may have said anything before it is encrypted
	}
	if config.ServerName == "" && !config.InsecureSkipVerify {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(c.address)
	}
	secure := tls.Client(c.net, config)
	defer c.bindContext(ctx)()
	if err := secure.HandshakeContext(ctx); err != nil {
		return c.explain(ctx, err)
	}
	c.net = secure
	c.reader.Reset(secure)
	return nil
}

// The ways to log in.
const (
	authNone      = 0
	authBasic     = 1
	authChallenge = 2
)

// login logs in, and returns the number of the database.
func (c *conn) login(ctx context.Context, l Config, mode byte) (database int64, err error) {
	secret := hash256(l.Password)
	var opaque, own string
	challenged := false
	for range 3 {
		id := c.begin(stmtLogin, 0)
		var o options
		c.out, o = beginOptions(c.out)
		c.out = o.int(c.out, optTransactionTime, 300)
		if l.Database != "" && l.Database != PublicDatabase {
			c.out = o.string(c.out, optDatabase, l.Database)
		}
		c.out = o.int(c.out, optAcceptableVersion, featureLatest)
		if l.Application != "" {
			c.out = o.string(c.out, optApplication, l.Application)
		}
		c.out = o.end(c.out)
		c.out = appendString(c.out, l.User)
		if mode == authChallenge && !challenged {
			c.out = appendString(c.out, "")
		} else {
			c.out = appendString(c.out, secret)
		}
		c.out = binary.LittleEndian.AppendUint32(c.out, uint32(max(15, l.Timeout/time.Second)))
		c.out = appendBool(c.out, true) // owners of partitions, not copies
		c.out = appendString(c.out, l.Cluster)
		c.out = append(c.out, mode)
		if mode != authNone {
			c.out = appendBool(c.out, challenged)
			if challenged {
				c.out = appendString(appendString(c.out, opaque), own)
			}
		}
		r, err := c.call(ctx, stmtLogin, id)
		if err != nil {
			return 0, err
		}
		answered := r.byte()
		switch {
		case answered == authBasic && mode == authChallenge:
			mode = authBasic
			continue
		case answered != mode:
			return 0, fmt.Errorf("%w: the server requires authentication method %d", ErrProtocol, answered)
		case mode != authNone && r.bool():
			if challenged {
				return 0, fmt.Errorf("%w: the server requests authentication a second time", ErrProtocol)
			}
			nonce, count := r.string(), r.string()
			opaque = r.string()
			salt := r.string()
			own = cnonce()
			secret = answer(l.User, l.Password, nonce, count, salt, own)
			challenged = true
			continue
		}
		database = r.long()
		return database, r.err
	}
	return 0, fmt.Errorf("%w: logging in has no end", ErrProtocol)
}

// cnonce is a random text of the client's.
func cnonce() string {
	var b [4]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// answer is the response to the server's challenge: digests that do not reveal the password.
func answer(user, password, nonce, count, salt, own string) string {
	ha1 := hash5(hash5(user+":DB_Auth:"+password) + ":" + nonce + ":" + own)
	digest := hash5(ha1 + ":" + nonce + ":" + count + ":" + own + ":auth:" + hash5("POST:/"))
	return "#1#" + digest + "#" + hash256(salt+":"+hash256(user+":"+password))
}

func hash256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func hash5(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// dial opens a connection and logs in.
func dial(ctx context.Context, l Config, address string) (c *conn, database int64, err error) {
	bounded := ctx
	if l.Timeout > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, l.Timeout)
		defer cancel()
	}
	connection, err := l.Dial(bounded, "tcp", address)
	if err != nil {
		return nil, 0, fmt.Errorf("connecting to %s: %w", address, err)
	}
	c = &conn{net: connection, address: address, reader: bufio.NewReaderSize(connection, 1<<16), timeout: l.Timeout, most: l.MaxMessage}
	mode, err := c.connect(ctx, l)
	if err == nil {
		database, err = c.login(ctx, l, mode)
	}
	if err != nil {
		c.close()
		return nil, 0, fmt.Errorf("logging in at %s as %s: %w", address, l.User, err)
	}
	return c, database, nil
}

// close closes the connection, and notifies the server if it still listens.
func (c *conn) close() {
	if c.broken == nil {
		c.out = c.out[:0]
		c.begin(stmtDisconnect, 0)
		c.out = append(c.out, 0, 0, 0, 0)
		c.end()
		_ = c.net.SetDeadline(time.Now().Add(time.Second)) // nobody waits for a farewell
		_, _ = c.net.Write(c.out)
		c.broken = net.ErrClosed
	}
	_ = c.net.Close() // nothing was left to be written
}
