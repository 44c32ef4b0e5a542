package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tfrec/tfrec/internal/printable"
)

// schemaVersion is the version of everything that --json prints.
const schemaVersion = 1

// resultWriter is the commands' stdout. Control characters do not get through it. It keeps its
// first error, so that a full disk or a closed pipe is never taken for success.
type resultWriter struct {
	w   *printable.Writer
	err error
}

func newResultWriter(w io.Writer) *resultWriter {
	return &resultWriter{w: printable.NewWriter(w)}
}

func (o *resultWriter) Write(p []byte) (int, error) { return o.writeTo(o.w, p) }

// writeRaw writes bytes unchanged, for programs; to a terminal it writes as Write does.
func (o *resultWriter) writeRaw(p []byte) (int, error) {
	if f, ok := o.w.Unwrap().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return o.Write(p)
	}
	return o.writeTo(o.w.Unwrap(), p)
}

func (o *resultWriter) writeTo(w io.Writer, p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := w.Write(p)
	o.keep(err)
	return n, o.err
}

// flush writes what the last Write may have left.
func (o *resultWriter) flush() { o.keep(o.w.Flush()) }

func (o *resultWriter) keep(err error) {
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("write the result: %w", err)
	}
}

// notesTo returns what prints a library's note: a sentence, which may hold names.
func notesTo(stderr io.Writer) func(sentence string) {
	return func(s string) { fmt.Fprintln(stderr, "note:", printable.String(s)) }
}

// jsonFlag reports whether the result is to be JSON.
func jsonFlag(cmd *cobra.Command) bool { return boolFlag(cmd, "json") }

// quietFlag reports whether progress and notes are unwanted.
func quietFlag(cmd *cobra.Command) bool { return boolFlag(cmd, "quiet") }

func boolFlag(cmd *cobra.Command, name string) bool {
	on, err := cmd.Flags().GetBool(name)
	return err == nil && on
}

// printJSON prints v, which must encode as a JSON object, on a line of stdout, after
// schema_version and, where sets may be taken in part, that.
func printJSON(cmd *cobra.Command, v any) error {
	line, err := jsonLine(v)
	if err != nil {
		return err
	}
	if boolFlag(cmd, partialFlag) {
		line = bytes.Replace(line, []byte(","), []byte(`,"partial":true,`), 1) // after schema_version
	}
	_, err = cmd.OutOrStdout().Write(line)
	return err
}

func jsonLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	members, ok := bytes.CutPrefix(b.Bytes(), []byte("{"))
	if !ok {
		return nil, fmt.Errorf("encode the result: %T is not a JSON object", v)
	}
	line := append([]byte(`{"schema_version":`), strconv.Itoa(schemaVersion)...)
	if members[0] != '}' {
		line = append(line, ',')
	}
	return append(line, members...), nil
}

// summaryTo is where a verb reports what it did. With --quiet a verb prints only what it was asked
// to show and faults of the data: records, figures, differences, plans, faults, lost records.
// Success is not printed: exit code 0 says it.
func summaryTo(cmd *cobra.Command) io.Writer {
	if quietFlag(cmd) {
		return io.Discard
	}
	return cmd.OutOrStdout()
}
