package csvscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// compress compresses data as the extension of a name says.
func compress(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch {
	case strings.HasSuffix(name, ".gz"):
		w = gzip.NewWriter(&b)
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return data
	}
	_, err := w.Write(data)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRows compares what one pass yields with what the chunks of Scan hold.
func TestRows(t *testing.T) {
	var many strings.Builder
	for i := range 60_000 { // several chunks
		fmt.Fprintf(&many, "%d,\"text, %d\",\"two\nlines\"\n", i, i*i)
	}
	for name, text := range map[string]string{
		"plain":      "a,b\n1,2\n\n3,4\n",
		"no newline": "a,b\r\n1,2\r\n3,4",
		"bad rows":   "a,b\n1\n1,2,3\n1,\"2\"x\n5,6\n",
		"mark":       "\ufeffa;b\n1;2\n",
		"many":       "a,b,c\n" + many.String(),
	} {
		for _, compressed := range []string{".csv", ".csv.gz", ".csv.zst"} {
			s := open(t, write(t, "t"+compressed, compress(t, compressed, []byte(text))), Options{})
			type row struct {
				line   int64
				fields string
				bad    string
			}
			describe := func(tok *Tokenizer) row {
				var fields []string
				for i := range min(tok.Len(), len(s.Header())) {
					fields = append(fields, string(tok.Field(i)))
				}
				return row{tok.Line(), strings.Join(fields, "|"), fmt.Sprint(tok.Err())}
			}
			var want, got []row
			tok := NewTokenizer(s.Dialect(), len(s.Header()))
			for _, c := range scan(t, s).Chunks {
				data, err := s.ReadChunk(t.Context(), nil, c)
				if err != nil {
					t.Fatal(err)
				}
				for tok.Reset(data, c.FirstLine); tok.Next(); {
					want = append(want, describe(tok))
				}
			}
			for tok, err := range s.Rows(t.Context()) {
				if err != nil {
					t.Fatal(name, err)
				}
				got = append(got, describe(tok))
			}
			if len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s%s: %d rows %v, want %d %v", name, compressed, len(got), got[:min(5, len(got))], len(want), want[:min(5, len(want))])
			}
			for range s.Rows(t.Context()) {
				break
			}
		}
	}
}

func TestRowsWithoutHeader(t *testing.T) {
	s := open(t, write(t, "t.csv", []byte("a,b,a\n1\n,,,\n")), Options{NoHeader: true})
	var got []int
	for tok, err := range s.Rows(t.Context()) {
		if err != nil || tok.Bad() {
			t.Fatal(err, tok.Err())
		}
		got = append(got, tok.Len())
	}
	if s.Header() != nil || !slices.Equal(got, []int{3, 1, 4}) {
		t.Errorf("header %q, rows of %v fields", s.Header(), got)
	}
}

func TestRowsErrors(t *testing.T) {
	good := strings.Repeat("1,2\n", 400_000)
	whole := compress(t, ".gz", []byte("a,b\n"+good))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		data []byte
		want error
		says string
	}{
		{"open quote", t.Context(), []byte("a,b\n" + good + "1,\"2\n3,4\n"), ErrOpenQuote, "t.csv: line 400002:"},
		{"cut short", t.Context(), whole[:len(whole)-len(whole)/4], nil, "cut short"},
		{"cancelled", cancelled, []byte("a,b\n" + good), context.Canceled, ""},
	} {
		s := open(t, write(t, "t.csv", c.data), Options{})
		var got error
		for tok, err := range s.Rows(c.ctx) {
			if got = err; (err == nil) == (tok == nil) {
				t.Errorf("%s: a row and an error, or neither", c.name)
			}
		}
		if got == nil || c.want != nil && !errors.Is(got, c.want) || !strings.Contains(got.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, got, c.says)
		}
	}
}
