// Package client speaks GridDB's NoSQL protocol, by which its Java and C clients
// read and write: no C library and no Java is needed.
//
// A cluster's data is divided among partitions. Each container is in one of them,
// which the CRC-32 of its name in lower case tells, and each partition has an owner
// among the nodes. Open finds out the cluster's partitions and their owners. A Session
// is one worker's connections, one to each node that it needs. Statements are put into
// a Pipeline and sent together; the server works on those of different partitions at
// the same time, and answers in any order.
//
//	c, err := client.Open(ctx, client.Config{Members: []string{"127.0.0.1:10001"}, Cluster: "myCluster", User: "admin", Password: "admin"})
//	s, err := c.Session(ctx)
//	info, err := s.PutContainer(ctx, client.Container{Name: "cpu_1", Type: client.TimeSeries, Columns: columns, Keys: 1})
//	p := s.Pipeline()
//	p.Query(info, "SELECT * WHERE time >= TO_TIMESTAMP_MS(0)", 0)
//	err = p.Run(ctx, func(i int, a *client.Answer) error { … })
//
// The protocol is that of version 15, which servers from 4.3 on have, over TCP without
// TLS. Not here: transactions over several statements (each statement commits),
// triggers, geometries, arrays, and the multicast notification of a cluster.
package client
