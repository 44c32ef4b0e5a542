package command

import (
	"encoding/base64"
	"errors"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// protoFormat writes Examples and SequenceExamples in protobuf's JSON mapping,
// as json_format.Parse reads them. Its memory is used again; the zero value is
// ready.
type protoFormat struct {
	example  tfrecord.Example
	sequence tfrecord.SequenceExample
	tally    message.Tally // of the records so far
	outlet
}

var errNoExample = errors.New("neither a tf.train.Example nor a SequenceExample; --format hex shows any record")

// object appends the record as a JSON object.
func (f *protoFormat) object(dst, record []byte) ([]byte, error) {
	switch f.tally.Of(record) {
	case message.SequenceExample:
		if err := f.sequence.Parse(record); err != nil {
			return dst, err
		}
		dst = append(f.features(append(dst, `{"context":`...), &f.sequence.Context), `,"featureLists":{"featureList":{`...)
		for i := range f.sequence.Lists.Len() {
			key, list := f.sequence.Lists.At(i)
			dst = appendKey(dst, i, key)
			dst = append(dst, `{"feature":[`...)
			for step := range list.Len() {
				if step > 0 {
					dst = append(f.drain(dst), ',')
				}
				dst = f.feature(dst, list.At(step))
			}
			dst = append(dst, "]}"...)
		}
		return append(dst, "}}}"...), nil
	case message.Example:
		if err := f.example.Parse(record); err != nil {
			return dst, err
		}
		return append(f.features(append(dst, `{"features":`...), &f.example.Features), '}'), nil
	}
	return dst, &tfrecord.Error{Record: -1, Part: tfrecord.PartParse, Err: errNoExample}
}

func (f *protoFormat) features(dst []byte, features *tfrecord.Features) []byte {
	dst = append(dst, `{"feature":{`...)
	for i := range features.Len() {
		key, value := features.At(i)
		dst = f.feature(appendKey(f.drain(dst), i, key), value)
	}
	return append(dst, "}}"...)
}

func appendKey(dst []byte, i int, key []byte) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return append(appendString(dst, jsontext.Readable(string(key))), ':')
}

func (f *protoFormat) feature(dst []byte, value tfrecord.Feature) []byte {
	first := true
	comma := func() {
		if !first {
			dst = append(f.drain(dst), ',')
		}
		first = false
	}
	switch value.Kind() {
	case tfrecord.KindBytes:
		dst = append(dst, `{"bytesList":{"value":[`...)
		for x := range value.BytesList() {
			comma()
			dst = append(dst, '"')
			for part := range slices.Chunk(x, enough/4*3) { // of whole groups of three
				dst = base64.StdEncoding.AppendEncode(f.drain(dst), part)
			}
			dst = append(dst, '"')
		}
	case tfrecord.KindFloat:
		dst = append(dst, `{"floatList":{"value":[`...)
		for x := range value.FloatList() {
			comma()
			dst = appendFloat(dst, float64(x), 64)
		}
	case tfrecord.KindInt64:
		dst = append(dst, `{"int64List":{"value":[`...)
		for x := range value.Int64List() {
			comma()
			dst = append(strconv.AppendInt(append(dst, '"'), x, 10), '"')
		}
	default:
		return append(dst, "{}"...)
	}
	return append(dst, "]}}"...)
}
