package tfrecord

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestIndex(t *testing.T) {
	data := file(t, WriterOptions{}, payloads())
	entries, err := BuildIndex(NewReader(bytes.NewReader(data), ReaderOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for i, e := range entries {
		frame := AppendFrame(nil, payloads()[i])
		if !bytes.Equal(data[e.Offset:e.Offset+e.Size], frame) {
			t.Errorf("entry %d is not where its record is", i)
		}
		text = AppendIndex(text, e)
	}
	if !strings.HasPrefix(string(text), "0 16\n16 17\n33 63\n") {
		t.Errorf("%.40q", text)
	}
	for _, in := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text))} {
		got, err := ReadIndex(in, "x")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(entries, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestIndexFaults(t *testing.T) {
	longest := "9223372036854775000 807\n"
	for _, c := range []struct {
		name, text string
		line       int64 // -1: no error
		offset     int64
		is         error
	}{
		{"empty", "", -1, 0, nil},
		{"the largest numbers", longest, -1, 0, nil},
		{"past the largest file", "9223372036854775000 808\n", 0, 0, ErrMalformed},
		{"past int64", "0 16\n9223372036854775808 16\n", 1, 5, ErrMalformed},
		{"no newline", "0 16\n16 17", 1, 5, io.ErrUnexpectedEOF},
		{"empty line", "0 16\n\n", 1, 5, ErrMalformed},
		{"one number", "16\n", 0, 0, ErrMalformed},
		{"three numbers", "0 16 3\n", 0, 0, ErrMalformed},
		{"two spaces", "0  16\n", 0, 0, ErrMalformed},
		{"tab", "0\t16\n", 0, 0, ErrMalformed},
		{"carriage return", "0 16\r\n", 0, 0, ErrMalformed},
		{"negative", "-1 16\n", 0, 0, ErrMalformed},
		{"plus", "+1 16\n", 0, 0, ErrMalformed},
		{"hexadecimal", "0x0 16\n", 0, 0, ErrMalformed},
		{"smaller than a frame", "0 15\n", 0, 0, ErrMalformed},
		{"endless line", strings.Repeat("1", 100_000), 0, 0, ErrMalformed},
		{"line over the longest", "0" + strings.Repeat("0", 60) + " 16\n", 0, 0, ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadIndex(strings.NewReader(c.text), "x.idx")
			if c.line < 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if f := faultOf(t, err); f != (fault{c.line, c.offset, PartIndex}) || !errors.Is(err, c.is) {
				t.Errorf("%v", err)
			}
		})
	}
	broken := errors.New("the disk is broken")
	if _, err := ReadIndex(io.MultiReader(strings.NewReader("0 16\n1"), iotest.ErrReader(broken)), "x"); !errors.Is(err, broken) {
		t.Error(err)
	}
	if n := len(AppendIndex(nil, IndexEntry{math.MaxInt64, math.MaxInt64})); n != maxIndexLine+1 {
		t.Errorf("the longest line has %d bytes", n)
	}
}

func TestBuildIndexRefuses(t *testing.T) {
	compressed := file(t, WriterOptions{Compression: CompressionGzip}, payloads())
	if _, err := BuildIndex(NewReader(bytes.NewReader(compressed), ReaderOptions{})); err == nil || faultOf(t, err).Part != PartIndex {
		t.Error(err)
	}
	data := file(t, WriterOptions{}, payloads())
	data[len(data)-1] ^= 1
	if _, err := BuildIndex(NewReader(bytes.NewReader(data), ReaderOptions{})); !errors.Is(err, ErrChecksum) {
		t.Error(err)
	}
}
