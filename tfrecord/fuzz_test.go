package tfrecord

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// vectorData returns the data of the vectors of a kind.
func vectorData(t testing.TB, read string) (data [][]byte) {
	t.Helper()
	paths, err := filepath.Glob("../testdata/vectors/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d vectors, %v", len(paths), err)
	}
	for _, path := range paths {
		if v := readVector(t, path); v.get("read") == read {
			data = append(data, v.data)
		}
	}
	return data
}

// FuzzReader reads arbitrary bytes. A plain file must give the same as the reference
// implementation, whatever the buffer size; records that are read and written again must give the
// same bytes.
func FuzzReader(f *testing.F) {
	const limit = 1 << 16
	for _, data := range vectorData(f, "records") {
		f.Add(data, uint8(0))
	}
	for _, c := range []Compression{CompressionNone, CompressionGzip, CompressionZlib, CompressionZstd} {
		f.Add(file(f, WriterOptions{Compression: c}, payloads()[:8]), uint8(200))
	}
	f.Fuzz(func(t *testing.T, data []byte, buffer uint8) {
		r := NewReader(bytes.NewReader(data), ReaderOptions{MaxRecord: limit, BufferSize: int(buffer)})
		defer r.Close()
		var again []byte
		var got [][]byte
		var err error
		for {
			var record []byte
			if record, err = r.Next(); err != nil {
				break
			}
			if r.Offset() != int64(len(again)) || r.Record() != int64(len(got)) {
				t.Fatalf("record %d at %d is said to be %d at %d", len(got), len(again), r.Record(), r.Offset())
			}
			again = AppendFrame(again, record)
			got = append(got, bytes.Clone(record))
			if len(again) > 8<<20 {
				return // a decompression bomb, as slow to read again
			}
		}
		if errors.Is(err, io.EOF) && err != io.EOF {
			t.Fatalf("%v passes for the end", err)
		}
		if err != io.EOF {
			if e := faultOf(t, err); e.Record != int64(len(got)) || e.Offset != int64(len(again)) {
				t.Fatalf("%v, behind %d records of %d bytes", err, len(got), len(again))
			}
		}
		if r.Compression() != CompressionNone {
			return
		}
		if !bytes.HasPrefix(data, again) {
			t.Fatal("records written again are other bytes")
		}
		want, wantFault := plainRead(data, limit)
		sameRecords(t, got, want)
		if (err == io.EOF) != (wantFault.Part == "") || err != io.EOF && faultOf(t, err) != wantFault {
			t.Fatalf("%v, want %+v", err, wantFault)
		}
	})
}

// fuzzParser compares a parser with the reference: both refuse, or both read the same.
func fuzzParser(f *testing.F, typ protoreflect.MessageDescriptor, parse func([]byte) error, same func(t *testing.T, judge protoreflect.Message)) {
	f.Fuzz(func(t *testing.T, data []byte) {
		judge, judgeErr := judged(typ, data)
		err := parse(data)
		if judgeErr == errNoVerdict {
			return
		}
		if (err == nil) != (judgeErr == nil) {
			t.Fatalf("%v, the judge says %v", err, judgeErr)
		}
		if err == nil {
			same(t, judge)
			return
		}
		if e := faultOf(t, err); !errors.Is(err, ErrMalformed) || e.Part != PartParse || e.Offset < 0 || e.Offset > int64(len(data)) {
			t.Fatalf("%+v: %v", e, err)
		}
	})
}

func FuzzExample(f *testing.F) {
	for _, c := range oddExamples {
		f.Add(c.data)
	}
	for _, data := range vectorData(f, "example") {
		f.Add(data)
	}
	var e Example
	var b Builder
	fuzzParser(f, exampleType, e.Parse, func(t *testing.T, judge protoreflect.Message) {
		want := judgedFeatures(get(judge, "features").Message())
		if diff := cmp.Diff(want, featuresText(t, &e.Features)); diff != "" {
			t.Fatalf("(-judge +got):\n%s", diff)
		}
		b.Reset()
		rebuild(&b, &e.Features)
		again, err := judged(exampleType, b.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		for key, text := range want {
			if text == "none" { // a Builder cannot write it
				delete(want, key)
			}
		}
		if diff := cmp.Diff(want, judgedFeatures(get(again, "features").Message())); diff != "" {
			t.Fatalf("built again (-want +judge):\n%s", diff)
		}
	})
}

// rebuild adds the features to a builder, last to first.
func rebuild(b *Builder, f *Features) {
	for i := f.Len() - 1; i >= 0; i-- {
		key, v := f.At(i)
		switch v.Kind() {
		case KindBytes:
			b.Bytes(string(key), v.AppendBytes(nil)...)
		case KindFloat:
			b.Float(string(key), v.AppendFloats(nil)...)
		case KindInt64:
			b.Int64(string(key), v.AppendInt64s(nil)...)
		}
	}
}

func FuzzSequenceExample(f *testing.F) {
	for _, c := range oddSequences {
		f.Add(c.data)
	}
	for _, data := range vectorData(f, "sequence_example") {
		f.Add(data)
	}
	var s SequenceExample
	fuzzParser(f, sequenceType, s.Parse, func(t *testing.T, judge protoreflect.Message) {
		if diff := cmp.Diff(judgedFeatures(get(judge, "context").Message()), featuresText(t, &s.Context)); diff != "" {
			t.Fatalf("context (-judge +got):\n%s", diff)
		}
		if diff := cmp.Diff(judgedLists(get(judge, "feature_lists").Message()), listsText(t, &s.Lists)); diff != "" {
			t.Fatalf("lists (-judge +got):\n%s", diff)
		}
	})
}

// FuzzReadIndex writes what it could read: the same bytes, except for leading zeros.
func FuzzReadIndex(f *testing.F) {
	for _, data := range vectorData(f, "index") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := ReadIndex(bytes.NewReader(data), "x")
		if err != nil {
			if e := faultOf(t, err); e.Part != PartIndex || e.Record != int64(bytes.Count(data[:e.Offset], []byte("\n"))) {
				t.Fatalf("%v", err)
			}
			return
		}
		var again []byte
		for _, e := range entries {
			again = AppendIndex(again, e)
		}
		if len(again) > len(data) || bytes.Count(data, []byte("\n")) != len(entries) {
			t.Fatalf("%q became %q", data, again)
		}
		twice, err := ReadIndex(bytes.NewReader(again), "x")
		if diff := cmp.Diff(entries, twice); err != nil || diff != "" {
			t.Fatalf("%v (-read +read again):\n%s", err, diff)
		}
	})
}
