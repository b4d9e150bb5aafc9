package client

import "encoding/binary"

// statement is the number of a type of request.
type statement int32

// The requests that this client sends.
const (
	stmtConnect          statement = 100
	stmtDisconnect       statement = 101
	stmtLogin            statement = 102
	stmtPartitionAddress statement = 104
	stmtPutContainer     statement = 107
	stmtQueryTQL         statement = 121
	stmtContainerInfo    statement = 140
	stmtContainerNames   statement = 143
	stmtDropContainer    statement = 144
	stmtPutRows          statement = 149
	stmtFetchRowSet      statement = 151
	stmtPutDatabase      statement = 158
)

// magic begins every message.
const magic = 65021048

const (
	protocolVersion = 15
	headerSize      = 20 // of any message: magic, an address, a port, a partition of -1, and the size of the body
)

// The options of requests.
const (
	optLegacyVersion     = 0
	optTransactionTime   = 1
	optDatabase          = 5
	optClientID          = 11001
	optFeatureVersion    = 11004
	optAcceptableVersion = 11005
	optApplication       = 11009
)

// The versions of server features in requests.
const (
	featurePrecise = 5 // TIMESTAMP(6) and (9)
	featureLatest  = 7
)

// options appends the options of a request. Those with ids from 11000 on have a range of their own.
type options struct {
	at   int // offset of their size
	span int // offset of the size of the range; 0: there is no range
}

func beginOptions(dst []byte) ([]byte, options) {
	return append(dst, 0, 0, 0, 0), options{at: len(dst)}
}

func (o *options) id(dst []byte, id int) []byte {
	if id >= 11000 && o.span == 0 {
		dst = binary.LittleEndian.AppendUint16(dst, 11000)
		o.span = len(dst)
		dst = append(dst, 0, 0, 0, 0)
	}
	return binary.LittleEndian.AppendUint16(dst, uint16(id))
}

func (o *options) int(dst []byte, id int, v int32) []byte {
	return binary.LittleEndian.AppendUint32(o.id(dst, id), uint32(v))
}

func (o *options) string(dst []byte, id int, v string) []byte { return appendString(o.id(dst, id), v) }

// end writes the sizes.
func (o *options) end(dst []byte) []byte {
	if o.span > 0 {
		binary.LittleEndian.PutUint32(dst[o.span:], uint32(len(dst)-o.span-4))
	}
	binary.LittleEndian.PutUint32(dst[o.at:], uint32(len(dst)-o.at-4))
	return dst
}

// acceptable appends the option for the responses that the client understands.
func acceptable(dst []byte, version int32) []byte {
	dst, o := beginOptions(dst)
	dst = o.int(dst, optAcceptableVersion, version)
	return o.end(dst)
}

// appendDefinition appends the properties of columns that not every server supports, with the id of a
// request that must not run twice.
func definition(dst []byte, precise bool, session int64, client []byte) []byte {
	dst, o := beginOptions(dst)
	if precise {
		dst = append(o.id(dst, optLegacyVersion), 1)
	}
	if client != nil {
		dst = binary.LittleEndian.AppendUint64(o.id(dst, optClientID), uint64(session))
		dst = append(dst, client...)
	}
	if precise {
		dst = o.int(dst, optFeatureVersion, featurePrecise)
	}
	return o.end(dst)
}
