package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/printable"
)

// SchemaVersion is the version of everything that --json prints.
const SchemaVersion = 1

// ResultWriter is the commands' stdout. Control characters do not get through it. It keeps its
// first error, so that a full disk or a closed pipe is never taken for success.
type ResultWriter struct {
	w   *printable.Writer
	Err error
}

// NewResultWriter returns a writer of results to stdout.
func NewResultWriter(w io.Writer) *ResultWriter {
	return &ResultWriter{w: printable.NewWriter(w)}
}

func (o *ResultWriter) Write(p []byte) (int, error) { return o.writeTo(o.w, p) }

// WriteRaw writes bytes unchanged, for programs; to a terminal it writes as Write does.
func (o *ResultWriter) WriteRaw(p []byte) (int, error) {
	if terminalOf(o) != nil {
		return o.Write(p)
	}
	return o.writeTo(o.w.Unwrap(), p)
}

func (o *ResultWriter) writeTo(w io.Writer, p []byte) (int, error) {
	if o.Err != nil {
		return 0, o.Err
	}
	n, err := w.Write(p)
	o.keep(err)
	return n, o.Err
}

// Flush writes buffered output.
func (o *ResultWriter) Flush() { o.keep(o.w.Flush()) }

func (o *ResultWriter) keep(err error) {
	if err != nil && o.Err == nil {
		o.Err = fmt.Errorf("write the result: %w", err)
	}
}

// NotesTo returns what prints a library's note: a sentence, which may hold names.
func NotesTo(stderr io.Writer) func(sentence string) {
	return func(s string) { fmt.Fprintln(stderr, "note:", printable.String(s)) }
}

// JSONFlag reports whether the result must be JSON.
func JSONFlag(cmd *cobra.Command) bool { return boolFlag(cmd, "json") }

// QuietFlag reports whether progress and notes are unwanted.
func QuietFlag(cmd *cobra.Command) bool { return boolFlag(cmd, "quiet") }

func boolFlag(cmd *cobra.Command, name string) bool {
	on, err := cmd.Flags().GetBool(name)
	return err == nil && on
}

// PrintJSON prints v, which must encode as a JSON object, on a line of stdout, after
// schema_version and, where sets may be taken in part, that.
func PrintJSON(cmd *cobra.Command, v any) error {
	line, err := JSONLine(v)
	if err != nil {
		return err
	}
	if boolFlag(cmd, PartialFlag) {
		line = bytes.Replace(line, []byte(","), []byte(`,"partial":true,`), 1) // after schema_version
	}
	_, err = cmd.OutOrStdout().Write(line)
	return err
}

// JSONLine returns a value as a line of JSON.
func JSONLine(v any) ([]byte, error) {
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
	line := append([]byte(`{"schema_version":`), strconv.Itoa(SchemaVersion)...)
	if members[0] != '}' {
		line = append(line, ',')
	}
	return append(line, members...), nil
}

// SummaryTo returns the writer for the report of a verb. With --quiet a verb prints only requested
// output and faults of the data: records, figures, differences, plans, faults, lost records. It
// does not print success, because exit code 0 means that.
func SummaryTo(cmd *cobra.Command) io.Writer {
	if QuietFlag(cmd) {
		return io.Discard
	}
	return cmd.OutOrStdout()
}
