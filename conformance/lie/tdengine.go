package lie

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/gorilla/websocket"
)

// taosTalk is a connection that speaks the WebSocket protocol of TDengine's taosAdapter,
// in which both sides speak in turn.
type taosTalk struct {
	*proxy
	client, server *websocket.Conn
	// told is what is left of an answer that the proxy has fetched as a whole, by the
	// number of the result.
	told map[uint64][]taosRow
}

// taosRequest is what is to be known of a request.
type taosRequest struct {
	Action string `json:"action"`
	Args   struct {
		Number uint64 `json:"req_id"`
		ID     uint64 `json:"id"`
		SQL    string `json:"sql"`
	} `json:"args"`
}

// taos passes what a client and a server say on until one of them ends.
func (p *proxy) taos(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	client, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer client.Close()
	server, _, err := websocket.DefaultDialer.DialContext(r.Context(), "ws://"+p.to+r.URL.Path, nil)
	if err != nil {
		return
	}
	defer server.Close()
	t := &taosTalk{proxy: p, client: client, server: server, told: make(map[uint64][]taosRow)}
	for err == nil {
		err = t.turn(r.Context())
	}
}

// turn passes a request and its answer on.
func (t *taosTalk) turn(ctx context.Context) error {
	kind, message, err := t.client.ReadMessage()
	if err != nil {
		return err
	}
	var request taosRequest
	if err := json.Unmarshal(message, &request); err != nil {
		return err
	}
	if rows, ours := t.told[request.Args.ID]; ours && request.Action != "query" {
		return t.tell(&request, rows)
	}
	if request.Action == "query" && t.lie.Store != nil {
		if lied := t.inserted(request.Args.SQL); lied != request.Args.SQL {
			message, err = json.Marshal(map[string]any{"action": "query", "args": map[string]any{"req_id": request.Args.Number, "sql": lied}})
			if err != nil {
				return err
			}
		}
	}
	answer, of, err := t.ask(kind, message)
	if err != nil {
		return err
	}
	if kindOf, ok := t.deceives(request.Args.SQL); ok && request.Action == "query" {
		var said struct{ ID uint64 }
		if err := json.Unmarshal(answer, &said); err != nil {
			return err
		}
		if err := t.fetch(ctx, said.ID, kindOf); err != nil {
			return err
		}
	}
	return t.client.WriteMessage(of, answer)
}

// ask sends a message and returns the answer.
func (t *taosTalk) ask(kind int, message []byte) (answer []byte, of int, err error) {
	if err := t.server.WriteMessage(kind, message); err != nil {
		return nil, 0, err
	}
	of, answer, err = t.server.ReadMessage()
	return answer, of, err
}

// fetch gets the whole of an answer, and keeps what the client is to be told of it.
func (t *taosTalk) fetch(ctx context.Context, id uint64, kindOf string) error {
	var rows []taosRow
	var whole []byte // blocks, each behind its length
	for number := uint64(1); ; number++ {
		answer, _, err := t.ask(websocket.TextMessage, taosAsks("fetch", number, id))
		if err != nil {
			return err
		}
		var said struct{ Completed bool }
		if err := json.Unmarshal(answer, &said); err != nil || said.Completed {
			if err != nil {
				return err
			}
			break
		}
		block, _, err := t.ask(websocket.TextMessage, taosAsks("fetch_block", number, id))
		if err != nil {
			return err
		}
		whole = append(binary.LittleEndian.AppendUint32(whole, uint32(len(block))), block...)
	}
	honest, err := taosRows(whole)
	if err != nil {
		return err
	}
	told := t.read(kindOf, len(honest))
	for _, i := range told.rows {
		rows = append(rows, honest[i])
	}
	if told.keep {
		t.remember(kindOf, whole)
	}
	if told.old != nil {
		if rows, err = taosRows(told.old); err != nil {
			return err
		}
	}
	t.wait(ctx, told.delay)
	t.told[id] = rows
	return nil
}

func taosAsks(action string, number, id uint64) []byte {
	text, err := json.Marshal(map[string]any{"action": action, "args": map[string]any{"req_id": number, "id": id}})
	if err != nil {
		panic(err) // of numbers and a word
	}
	return text
}

// tell answers a request about a result that the proxy has fetched: a block, and then
// that there are no more.
func (t *taosTalk) tell(request *taosRequest, rows []taosRow) error {
	if request.Action == "fetch_block" {
		t.told[request.Args.ID] = nil
		return t.client.WriteMessage(websocket.BinaryMessage, taosBlock(rows))
	}
	return t.client.WriteJSON(map[string]any{
		"code": 0, "action": request.Action, "req_id": request.Args.Number, "id": request.Args.ID, "rows": len(rows), "completed": len(rows) == 0,
	})
}

// taosRow is a row of a block: of each column its type and its bytes; nil: NULL.
type taosRow struct {
	kinds  []byte
	values [][]byte
}

// taosWidths are the bytes of values of fixed size, by the numbers of their types.
var taosWidths = [16]int{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 4, 7: 8, 9: 8, 11: 1, 12: 2, 13: 4, 14: 8}

var errTaosBlock = errors.New("a block that breaks off")

// taosRows reads the rows of blocks, each behind its length.
func taosRows(blocks []byte) (rows []taosRow, err error) {
	defer func() {
		if recover() != nil {
			err = errTaosBlock
		}
	}()
	le := binary.LittleEndian
	for len(blocks) > 0 {
		block := blocks[4:][:le.Uint32(blocks)]
		blocks = blocks[4+len(block):]
		head := block[16:]
		n, columns := int(le.Uint32(head[8:])), int(le.Uint32(head[12:]))
		first := len(rows)
		for range n {
			rows = append(rows, taosRow{})
		}
		infos, lengths := head[28:], head[28+5*columns:]
		data := lengths[4*columns:]
		for c := range columns {
			kind, length := infos[5*c], int(le.Uint32(lengths[4*c:]))
			width, marks := taosWidths[kind], (n+7)/8
			if width == 0 {
				marks = 4 * n
			}
			values := data[marks:][:length]
			for r := range n {
				row := &rows[first+r]
				row.kinds = append(row.kinds, kind)
				var value []byte
				switch {
				case width > 0 && data[r/8]>>(7-r%8)&1 == 0:
					value = values[r*width:][:width]
				case width == 0 && int32(le.Uint32(data[4*r:])) >= 0:
					at := values[le.Uint32(data[4*r:]):]
					value = at[:2+le.Uint16(at)]
				}
				row.values = append(row.values, value)
			}
			data = data[marks+length:]
		}
	}
	return rows, nil
}

// taosBlock is a message with the rows.
func taosBlock(rows []taosRow) []byte {
	le := binary.LittleEndian
	var infos, lengths, data []byte
	for c, kind := range rows[0].kinds {
		width := taosWidths[kind]
		marks, values := make([]byte, (len(rows)+7)/8), []byte(nil)
		if width == 0 {
			marks = nil
		}
		for r, row := range rows {
			value := row.values[c]
			switch {
			case width == 0 && value == nil:
				marks = le.AppendUint32(marks, 1<<32-1)
			case width == 0:
				marks = le.AppendUint32(marks, uint32(len(values)))
			case value == nil:
				marks[r/8] |= 1 << (7 - r%8)
				value = make([]byte, width)
			}
			values = append(values, value...)
		}
		infos = append(infos, kind, 0, 0, 0, 0)
		lengths = le.AppendUint32(lengths, uint32(len(values)))
		data = append(append(data, marks...), values...)
	}
	out := make([]byte, 16+28)
	le.PutUint32(out[16+8:], uint32(len(rows)))
	le.PutUint32(out[16+12:], uint32(len(rows[0].kinds)))
	return append(append(append(out, infos...), lengths...), data...)
}

// taosInserts finds the tables of an INSERT, each with its rows.
var taosInserts = regexp.MustCompile("((?:`\\w+`\\.)?`(\\w+)_\\d+`(?: USING \\S+ TAGS \\([^()]*\\))? VALUES )((?:\\([^()]*\\))+)")

// asksTaos reports whether a request is a statement for taosAdapter's REST.
func asksTaos(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/rest/sql") }

// inserted does to the rows of an INSERT what their fates are. The first column is the
// time.
func (p *proxy) inserted(text string) string {
	if !strings.HasPrefix(text, "INSERT INTO") {
		return text
	}
	found := taosInserts.FindAllStringSubmatch(text, -1)
	var rows []*[]string
	tables := make([][]*[]string, len(found))
	for i, table := range found {
		if table[2] != p.table {
			continue
		}
		for row := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(table[3], "("), ")"), ")(") {
			values := strings.Split(row, ",")
			tables[i] = append(tables[i], &values)
			rows = append(rows, &values)
		}
	}
	fates := p.fates(len(rows))
	copies := make(map[*[]string]int, len(rows))
	for i, row := range rows {
		for c := 1; c < len(*row); c++ {
			switch {
			case fates[i] == Zero && (*row)[c] != "NULL":
				(*row)[c] = "0"
			case fates[i] == Swap && i > 0:
				(*rows[i-1])[c], (*row)[c] = (*row)[c], (*rows[i-1])[c]
			}
		}
		copies[row] = fates[i].copies()
	}
	i := -1
	return taosInserts.ReplaceAllStringFunc(text, func(whole string) string {
		if i++; tables[i] == nil {
			return whole
		}
		out := ""
		for _, row := range tables[i] {
			out += strings.Repeat("("+strings.Join(*row, ",")+")", copies[row])
		}
		if out == "" { // a table with no row is none
			return ""
		}
		return found[i][1] + out
	})
}
