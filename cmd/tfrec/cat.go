package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// catFormats are the values of cat's --format.
var catFormats = []string{"text", "json", "proto", "hex"}

// catOptions are the flags of cat.
type catOptions struct {
	format string
	take   int64
	framed bool // --json: an object around each record
}

func newCatCommand() *cobra.Command {
	var o catOptions
	cmd := &cobra.Command{
		Use:     "cat PATH...",
		GroupID: groupRead,
		Short:   "Print records",
		Long: `Print the records of files, one file after another in name order, up to the
first one that is damaged.

  text   for people
  json   an object a line: a feature's value, or a list of them; long bytes and
         those that are no text as {"size": N}
  proto  an object a line, as protobuf's JSON mapping has it: what Python's
         json_format.Parse reads into a tf.train.Example
  hex    the bytes of a record a line

--json prints the json format with the record's file, number and offset around
it.`,
		Example: `  tfrec cat --take 3 out/
  tfrec cat --format json out/ | jq .label
  tfrec cat --format hex x.tfrecord | head -1 | xxd -r -p | protoc --decode_raw`,
		Annotations: map[string]string{faultsMean: "the data have faults; the records before the first were printed"},
		Args:        minArgs("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if jsonFlag(cmd) {
				if cmd.Flags().Changed("format") && o.format != "json" {
					return usageError("--json beside --format %s: want one of them", o.format)
				}
				o.format, o.framed = "json", true
			}
			if !cmd.Flags().Changed("take") {
				o.take = -1
			} else if o.take < 0 {
				return usageError("--take %d: want 0 or more", o.take)
			}
			c, err := newCat(cmd.OutOrStdout(), o)
			if err != nil {
				return err
			}
			return c.all(cmd.Context(), args)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.format, "format", "text", "text, json, proto or hex")
	fs.Int64Var(&o.take, "take", 0, "stop after `N` records (default: all)")
	completeWords(cmd, "format", catFormats...)
	return cmd
}

// cat prints records.
type cat struct {
	out      *bufio.Writer
	take     int64 // records to go; below 0: all
	line     []byte
	printOne func(r *shard.Reader, path string, record []byte) error
}

func newCat(w io.Writer, o catOptions) (*cat, error) {
	c := &cat{out: bufio.NewWriterSize(w, 64<<10), take: o.take}
	var readable readableFormat
	var proto protoFormat
	formats := map[string]func(r *shard.Reader, path string, record []byte) error{
		"text": func(r *shard.Reader, path string, record []byte) error {
			c.line = readable.text(c.line, shard.Readable(path), r.Record(), r.Offset(), record)
			return nil
		},
		"json": func(r *shard.Reader, path string, record []byte) error {
			if o.framed {
				c.line = append(c.line, `{"schema_version":`...)
				c.line = strconv.AppendInt(c.line, schemaVersion, 10)
				c.line = appendString(append(c.line, `,"path":`...), shard.Readable(path))
				c.line = strconv.AppendInt(append(c.line, `,"record":`...), r.Record(), 10)
				c.line = strconv.AppendInt(append(c.line, `,"offset":`...), r.Offset(), 10)
				c.line = strconv.AppendInt(append(c.line, `,"size":`...), int64(len(record)), 10)
				c.line = append(readable.object(append(c.line, `,"value":`...), record), '}')
			} else {
				c.line = readable.object(c.line, record)
			}
			c.line = append(c.line, '\n')
			return nil
		},
		"proto": func(r *shard.Reader, _ string, record []byte) (err error) {
			if c.line, err = proto.object(c.line, record); err != nil {
				return r.Locate(err)
			}
			c.line = append(c.line, '\n')
			return nil
		},
		"hex": func(_ *shard.Reader, _ string, record []byte) error {
			c.line = append(hex.AppendEncode(c.line, record), '\n')
			return nil
		},
	}
	c.printOne = formats[o.format]
	if c.printOne == nil {
		return nil, usageError("--format %q: want %s", o.format, strings.Join(catFormats, ", "))
	}
	return c, nil
}

// all prints the records of all files that paths stand for. What was read
// before an error is printed.
func (c *cat) all(ctx context.Context, paths []string) error {
	sources, err := shard.Expand(paths)
	if err != nil {
		return err
	}
	for _, s := range sources {
		if err = c.file(ctx, s.Path); err != nil || c.take == 0 {
			break
		}
	}
	if flushed := c.out.Flush(); flushed != nil {
		return flushed
	}
	return err
}

func (c *cat) file(ctx context.Context, path string) error {
	if c.take == 0 {
		return nil
	}
	r, err := shard.Open(path, tfrecord.ReaderOptions{})
	if err != nil {
		return err
	}
	defer r.Close()
	for record, err := range r.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			c.line = c.line[:0]
			err = c.printOne(r, path, record)
		}
		if err != nil {
			return damage(err)
		}
		if _, err := c.out.Write(c.line); err != nil {
			return err
		}
		if c.take--; c.take == 0 {
			return nil
		}
	}
	return nil
}

// damage makes an error in the data a fault. One of the operating system, such
// as a disk that cannot be read, stays what it is.
func damage(err error) error {
	var located *tfrecord.Error
	var system *fs.PathError
	if errors.As(err, &located) && !errors.As(err, &system) {
		return faultError(err)
	}
	return err
}
