// Package client implements GridDB's NoSQL protocol, which its Java and C clients use
// too. It needs neither a C library nor Java.
//
// A cluster's data is divided among partitions. The CRC-32 of a container's name in
// lower case determines its partition, and each partition has an owner among the
// nodes. Open reads the cluster's partitions and their owners. A Session is one
// worker's connections, one to each node that it needs. Statements are added to a
// Pipeline and sent together; the server runs the statements of different partitions
// concurrently, and responds in any order.
//
//	c, err := client.Open(ctx, client.Config{Members: []string{"127.0.0.1:10001"}, Cluster: "myCluster", User: "admin", Password: "admin"})
//	s, err := c.Session(ctx)
//	info, err := s.PutContainer(ctx, client.Container{Name: "cpu_1", Type: client.TimeSeries, Columns: columns, Keys: 1})
//	p := s.Pipeline()
//	p.Query(info, "SELECT * WHERE time >= TO_TIMESTAMP_MS(0)", 0)
//	err = p.Run(ctx, func(i int, a *client.Answer) error { … })
//
// OpenSQL connects to the SQL interface, by which GridDB's JDBC driver reads: a port and
// a protocol of its own, and any node answers for the whole cluster.
//
//	q, err := client.OpenSQL(ctx, client.Config{Members: []string{"127.0.0.1:20001"}, User: "admin", Password: "admin"}, 0)
//	err = q.Query(ctx, `SELECT max("time"), max(usage_user) FROM cpu_1`, func(a *client.Answer) error {
//		for a.Rows.Next() { … }
//		return a.Rows.Err()
//	})
//
// The package implements version 15 of the protocol, which servers support since 4.3, and
// the SQL protocol, which they support since 4.0.1, over TCP. With Config.TLS a connection
// is encrypted from the second request on, as servers of the Enterprise Edition expect it;
// this was not tested with one. Not implemented: SQL statements that change anything,
// parameters, transactions over several statements (each statement commits), triggers,
// geometries, arrays, and the multicast notification of a cluster.
package client
