package command

import (
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/formats"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/reader"
)

// catFormats are the values of cat's --format.
var catFormats = []string{"text", "json", "proto", "hex"}

// setFormat sets what writes a record, with a newline, to c.line, and the tally of what it leaves
// out.
func (c *cat) setFormat() {
	toOut := formats.Outlet{Write: func(p []byte) { c.out.Write(p) }} // which keeps its first error
	readable, proto := formats.Readable{Outlet: toOut}, formats.Proto{Outlet: toOut}
	formats := map[string]func(r reader.Record) error{
		"text": func(r reader.Record) error {
			c.line = readable.Text(c.line, c.set.Path(r), r.Number, r.Offset, r.Data)
			return nil
		},
		"json": func(r reader.Record) error {
			if c.options.framed {
				c.line = append(c.line, `{"schema_version":`...)
				c.line = strconv.AppendInt(c.line, cli.SchemaVersion, 10)
				c.line = formats.AppendString(append(c.line, `,"path":`...), jsontext.Readable(c.set.Path(r)))
				c.line = strconv.AppendInt(append(c.line, `,"record":`...), r.Number, 10)
				c.line = strconv.AppendInt(append(c.line, `,"offset":`...), r.Offset, 10)
				c.line = strconv.AppendInt(append(c.line, `,"size":`...), int64(len(r.Data)), 10)
				c.line = append(readable.Object(append(c.line, `,"value":`...), r.Data), '}')
			} else {
				c.line = readable.Object(c.line, r.Data)
			}
			c.line = append(c.line, '\n')
			return nil
		},
		"proto": func(r reader.Record) (err error) {
			if c.line, err = proto.Object(c.line, r.Data); err == nil {
				c.line = append(c.line, '\n')
			}
			return err
		},
		"hex": func(r reader.Record) error {
			for part := range slices.Chunk(r.Data, formats.Enough/2) {
				c.line = hex.AppendEncode(toOut.Drain(c.line), part)
			}
			c.line = append(c.line, '\n')
			return nil
		},
	}
	c.printOne = formats[c.options.format]
	switch c.options.format {
	case "text", "json":
		c.tally = &readable.Tally
	case "proto":
		c.tally = &proto.Tally
	}
}
