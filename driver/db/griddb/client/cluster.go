package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// PublicDatabase is the name of the database that every cluster has.
const PublicDatabase = "public"

// Config says which cluster to connect to, and as whom.
type Config struct {
	// Members are addresses, host:port, of the nodes' transaction service; some of
	// them are enough, since a node knows the others.
	Members []string
	// Provider is a URL that returns the cluster's members, in place of Members.
	Provider string
	// HTTP sends requests to the provider; nil: http.DefaultClient.
	HTTP *http.Client

	Cluster     string // name of the cluster; empty: not checked
	Database    string // empty: PublicDatabase
	User        string
	Password    string
	Application string // shown by the server among its connections

	// Direct means that all partitions are accessed through the first member, whatever their addresses
	// in the cluster: the address of a container, or behind a tunnel, is unreachable.
	Direct bool

	Timeout    time.Duration // longest wait for a connection and for an answer; 0: none
	MaxMessage int           // bytes that an answer may have; 0: 1 GiB
	// Dial opens connections; nil: net.Dialer's.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS encrypts connections; nil: they are not encrypted. Without a ServerName, a node's certificate
	// is verified for the name or address by which it is reached.
	TLS *tls.Config

	version int32 // of the protocol
}

// Client knows a cluster. It may be used by several goroutines.
type Client struct {
	config Config

	mu         sync.Mutex // guards the following fields
	partitions int
	owners     []string // addresses of the partitions' owners; empty: unknown yet
	database   int64
}

// Open finds out the cluster's partitions and their owners.
func Open(ctx context.Context, c Config) (*Client, error) {
	c.MaxMessage, c.version = cmp.Or(c.MaxMessage, 1<<30), protocolVersion
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	client := &Client{config: c}
	return client, client.Refresh(ctx)
}

// Refresh reads again who owns the partitions. It is needed after a node has denied a statement.
func (c *Client) Refresh(ctx context.Context) error {
	members, err := membersOf(ctx, c.config, serviceTransaction)
	if err != nil {
		return err
	}
	var failures []error
	for i, m := range members {
		err := c.discover(ctx, m)
		if err == nil {
			return nil
		}
		var said *Error
		if ctx.Err() != nil || i == len(members)-1 && len(failures) == 0 || errors.As(err, &said) && !said.Denied {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// The services of a node that this client uses, by their names in providers.
const (
	serviceTransaction = "transaction"
	serviceSQL         = "sql"
)

// membersOf returns the addresses of a service on the cluster's members.
func membersOf(ctx context.Context, c Config, service string) ([]string, error) {
	if c.Provider == "" {
		if len(c.Members) == 0 {
			return nil, errors.New("neither members of the cluster nor a provider of them are given")
		}
		return c.Members, nil
	}
	list, err := fetchProvider(ctx, c, service)
	if err != nil {
		return nil, fmt.Errorf("reading the cluster's members from the provider: %w", err)
	}
	return list, nil
}

// fetchProvider reads the addresses from the provider.
func fetchProvider(ctx context.Context, c Config, service string) ([]string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Provider, nil)
	if err != nil {
		return nil, err
	}
	web := cmp.Or(c.HTTP, http.DefaultClient)
	response, err := web.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers with status %d", c.Provider, response.StatusCode)
	}
	if err != nil {
		return nil, err
	}
	return parseMembers(text, service)
}

// parseMembers reads what a provider says: a list of nodes, each with an address for each
// service.
func parseMembers(text []byte, service string) ([]string, error) {
	type address struct {
		Address string `json:"address"`
		Port    int    `json:"port"`
	}
	var nodes []map[string]address
	if err := json.Unmarshal(text, &nodes); err != nil {
		return nil, fmt.Errorf("the response is not a list of nodes: %w", err)
	}
	var list []string
	for _, n := range nodes {
		if endpoint := n[service]; endpoint.Address != "" && endpoint.Port > 0 {
			list = append(list, net.JoinHostPort(endpoint.Address, strconv.Itoa(endpoint.Port)))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("its answer has no node with an address of the service %s", service)
	}
	return list, nil
}

// discover reads the cluster from a member, and the partitions from its master.
func (c *Client) discover(ctx context.Context, member string) error {
	node, database, err := dial(ctx, c.config, member)
	if err != nil {
		return err
	}
	defer func() { node.close() }()
	partitions, master, self, err := node.cluster(ctx)
	if err != nil {
		return fmt.Errorf("reading the state of the cluster from %s: %w", member, err)
	}
	reported := ""
	if !self && !c.config.Direct {
		node.close()
		if node, database, err = dial(ctx, c.config, master); err != nil {
			return fmt.Errorf("at the cluster's master: %w", err)
		}
	} else {
		reported = master
	}
	owners := make([]string, partitions)
	if c.config.Direct {
		for i := range owners {
			owners[i] = member
		}
	} else if owners, err = node.owners(ctx, partitions); err != nil {
		return fmt.Errorf("reading the owners of partitions from %s: %w", node.address, err)
	}
	for i, o := range owners {
		if o == reported { // by the name by which it was reached, which leads there
			owners[i] = node.address
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.partitions, c.owners, c.database = partitions, owners, database
	return nil
}

// cluster reads the number of partitions and the address of the master from a node.
func (c *conn) cluster(ctx context.Context) (partitions int, master string, self bool, err error) {
	id := c.begin(stmtPartitionAddress, 0)
	c.out = append(c.out, 0, 0, 0, 0, 1)
	r, err := c.call(ctx, stmtPartitionAddress, id)
	if err != nil {
		return 0, "", false, err
	}
	partitions = int(r.int())
	owners, backups := r.byte(), r.byte()
	self = r.bool()
	if mode := r.byte(); r.err == nil && mode != 0 {
		return 0, "", false, fmt.Errorf("the cluster divides containers by way %d, which this client does not know", mode)
	}
	master = r.address()
	if r.err == nil && (owners != 0 || backups != 0 || partitions <= 0 || partitions > 1<<16) {
		r.err = ErrProtocol
	}
	return partitions, master, self, r.err
}

// address decodes the address of a node.
func (r *reader) address() string {
	ip := r.take(4)
	if ip == nil {
		return ""
	}
	return net.JoinHostPort(net.IP(ip).String(), strconv.Itoa(int(uint16(r.int()))))
}

// owners reads the owners of the partitions from the master. A partition that has no owner now has the
// address "".
func (c *conn) owners(ctx context.Context, partitions int) ([]string, error) {
	all := make([]string, partitions)
	first := c.next + 1
	for p := range partitions {
		c.begin(stmtPartitionAddress, p)
		c.out = append(c.out, 0, 0, 0, 0)
		c.end()
	}
	defer c.bindContext(ctx)()
	out := c.out
	c.out = c.out[:0]
	if err := c.send(ctx, out); err != nil {
		return nil, err
	}
	for range partitions {
		s, id, r, reported, err := c.receive(ctx, false)
		switch {
		case err != nil:
			return nil, err
		case reported != nil:
			return nil, c.explain(ctx, reported)
		case s != stmtPartitionAddress || id < first || id >= first+uint64(partitions):
			return nil, c.explain(ctx, ErrProtocol)
		}
		r.int()
		address := &all[id-first]
		for range r.byte() {
			*address = r.address()
		}
		for range r.byte() {
			r.address() // of a copy
		}
		if r.err != nil {
			return nil, c.explain(ctx, r.err)
		}
	}
	return all, nil
}

// Partitions returns how many partitions the cluster has.
func (c *Client) Partitions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.partitions
}

// Nodes returns how many nodes own partitions.
func (c *Client) Nodes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := map[string]bool{}
	for _, o := range c.owners {
		if o != "" {
			seen[o] = true
		}
	}
	return len(seen)
}

// owner returns the address of the owner of a partition.
func (c *Client) owner(partition int) (string, int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if partition < 0 || partition >= len(c.owners) || c.owners[partition] == "" {
		return "", 0, &Error{Code: CodePartitionState, Denied: true, Message: fmt.Sprintf("no node owns partition %d now", partition)}
	}
	return c.owners[partition], c.database, nil
}

// Session is the connections of one worker, to the nodes that it has needed so far. One
// goroutine uses it at a time.
type Session struct {
	client *Client
	conns  map[string]*conn
	uuid   [16]byte
	ids    int64
	closed bool
	last   time.Time // when the last bytes of a pipeline had been sent
}

// Session opens a session, which has a connection to one node at once.
func (c *Client) Session(ctx context.Context) (*Session, error) {
	s := &Session{client: c, conns: map[string]*conn{}}
	id := cnonce() + cnonce() + cnonce() + cnonce()
	for i := range s.uuid {
		n, _ := strconv.ParseUint(id[2*i:2*i+2], 16, 8)
		s.uuid[i] = byte(n)
	}
	_, _, err := s.connTo(ctx, 0)
	return s, err
}

// connTo returns the connection to the owner of a partition.
func (s *Session) connTo(ctx context.Context, partition int) (*conn, int64, error) {
	if s.closed {
		return nil, 0, net.ErrClosed
	}
	address, database, err := s.client.owner(partition)
	if err != nil {
		return nil, 0, err
	}
	if c := s.conns[address]; c != nil {
		if c.broken != nil {
			return nil, 0, c.broken
		}
		return c, database, nil
	}
	c, _, err := dial(ctx, s.client.config, address)
	if err != nil {
		return nil, 0, err
	}
	s.conns[address] = c
	return c, database, nil
}

// Err returns why the session cannot be used any more; nil: it can.
func (s *Session) Err() error {
	if s.closed {
		return net.ErrClosed
	}
	for _, c := range s.conns {
		if c.broken != nil {
			return c.broken
		}
	}
	return nil
}

// Close closes the connections.
func (s *Session) Close() error {
	s.closed = true
	for _, c := range s.conns {
		c.close()
	}
	return nil
}

// identify appends the id of the session's client, without a session of the server's.
func (s *Session) identify(dst []byte) []byte { return append(dst, s.uuid[:]...) }

// call sends one request.
func (s *Session) call(ctx context.Context, st statement, partition int, body func(dst []byte, database int64) []byte) (reader, error) {
	c, database, err := s.connTo(ctx, partition)
	if err != nil {
		return reader{}, err
	}
	id := c.begin(st, partition)
	c.out = body(c.out, database)
	return c.call(ctx, st, id)
}

// PutContainer creates a container unless it exists. An existing one must have the same columns. It
// returns the container with its partition and its number.
func (s *Session) PutContainer(ctx context.Context, of Container) (Container, error) {
	of.Partition = Partition(of.Name, s.client.Partitions())
	s.ids++
	r, err := s.call(ctx, stmtPutContainer, of.Partition, func(dst []byte, database int64) []byte {
		return s.definition(dst, database, &of)
	})
	if err == nil {
		of.Version, of.ID = r.int(), r.long()
		of.rows = newLayout(of.Columns, of.Type == Collection)
		err = r.err
	}
	if err != nil {
		return of, fmt.Errorf("making container %s: %w", of.Name, err)
	}
	return of, nil
}

// definition appends the body of a request that creates a container.
func (s *Session) definition(dst []byte, database int64, of *Container) []byte {
	new := precise(of.Columns)
	dst = definition(dst, new, s.ids, s.uuid[:])
	dst = appendKey(dst, database, of.Name)
	dst = append(dst, byte(of.Type), 0)
	dst = appendSchema(dst, of.Columns, of.Keys)
	dst = appendString(dst, "") // data affinity
	if of.Type == TimeSeries {
		dst = append(dst, 0) // no expiration
	}
	if new {
		dst = binary.LittleEndian.AppendUint32(dst, attributeSingle)
		dst = binary.LittleEndian.AppendUint64(dst, 0)
		dst = binary.LittleEndian.AppendUint32(dst, ^uint32(0))
	}
	return dst
}

// attributeSingle is what containers are that users make.
const attributeSingle = 0x10

// Containers returns the containers with the names, and nil for each missing one.
func (s *Session) Containers(ctx context.Context, names ...string) ([]*Container, error) {
	all := make([]*Container, len(names))
	p := s.Pipeline()
	for _, name := range names {
		p.Container(name)
	}
	err := p.Run(ctx, func(i int, a *Answer) error {
		all[i] = a.Container
		return a.Err
	})
	return all, err
}

// ContainerNames lists the names of all containers of the database that users created.
func (s *Session) ContainerNames(ctx context.Context) ([]string, error) {
	var names []string
	p := s.Pipeline()
	for partition := range s.client.Partitions() {
		p.names(partition)
	}
	err := p.Run(ctx, func(_ int, a *Answer) error {
		names = append(names, a.names...)
		return a.Err
	})
	return names, err
}

// CreateDatabase creates a database unless it exists. The user must be an administrator, and the
// session must be one of the public database.
func (s *Session) CreateDatabase(ctx context.Context, name string) error {
	_, err := s.call(ctx, stmtPutDatabase, 0, func(dst []byte, _ int64) []byte {
		return append(appendString(append(dst, 0, 0, 0, 0), name), 0, 0, 0, 0, 0, 0)
	})
	return err
}

// NewDiscardSession returns a session of an imaginary cluster with the given number of partitions. It
// discards all requests and receives no responses. It is for measuring how statements are encoded.
func NewDiscardSession(partitions int) *Session {
	c := &Client{partitions: partitions, owners: make([]string, partitions)}
	for i := range c.owners {
		c.owners[i] = "nowhere"
	}
	return &Session{client: c, conns: map[string]*conn{"nowhere": {}}}
}
