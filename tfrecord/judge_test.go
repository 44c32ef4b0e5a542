package tfrecord

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// The reference for Examples is google.golang.org/protobuf with the messages of
// tensorflow/core/example described here.
var (
	exampleType  = messageType("Example")
	sequenceType = messageType("SequenceExample")
)

var exampleProto = func() protoreflect.FileDescriptor {
	message := func(name string, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
		return &descriptorpb.DescriptorProto{Name: &name, Field: fields}
	}
	field := func(name string, number int32, label descriptorpb.FieldDescriptorProto_Label, typ descriptorpb.FieldDescriptorProto_Type) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{Name: &name, JsonName: &name, Number: &number, Label: &label, Type: &typ}
	}
	const (
		optional = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		repeated = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	)
	sub := func(name string, number int32, label descriptorpb.FieldDescriptorProto_Label, of string) *descriptorpb.FieldDescriptorProto {
		f := field(name, number, label, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE)
		f.TypeName = proto.String(".tensorflow." + of)
		return f
	}
	list := func(name string, typ descriptorpb.FieldDescriptorProto_Type) *descriptorpb.DescriptorProto {
		f := field("value", 1, repeated, typ)
		if typ != descriptorpb.FieldDescriptorProto_TYPE_BYTES {
			f.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(true)}
		}
		return message(name, f)
	}
	mapOf := func(name, fieldName, entry, value string) *descriptorpb.DescriptorProto {
		m := message(name, sub(fieldName, 1, repeated, name+"."+entry))
		e := message(entry, field("key", 1, optional, descriptorpb.FieldDescriptorProto_TYPE_STRING), sub("value", 2, optional, value))
		e.Options = &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)}
		m.NestedType = append(m.NestedType, e)
		return m
	}
	feature := message("Feature", sub("bytes_list", 1, optional, "BytesList"), sub("float_list", 2, optional, "FloatList"), sub("int64_list", 3, optional, "Int64List"))
	feature.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("kind")}}
	for _, f := range feature.Field {
		f.OneofIndex = proto.Int32(0)
	}
	d, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("example.proto"), Package: proto.String("tensorflow"),
		// The original is proto3, for which Go's library, unlike others, refuses keys that are not
		// UTF-8. The wire format is the same.
		Syntax: proto.String("proto2"),
		MessageType: []*descriptorpb.DescriptorProto{
			list("BytesList", descriptorpb.FieldDescriptorProto_TYPE_BYTES),
			list("FloatList", descriptorpb.FieldDescriptorProto_TYPE_FLOAT),
			list("Int64List", descriptorpb.FieldDescriptorProto_TYPE_INT64),
			feature,
			mapOf("Features", "feature", "FeatureEntry", "Feature"),
			message("FeatureList", sub("feature", 1, repeated, "Feature")),
			mapOf("FeatureLists", "feature_list", "FeatureListEntry", "FeatureList"),
			message("Example", sub("features", 1, optional, "Features")),
			message("SequenceExample", sub("context", 1, optional, "Features"), sub("feature_lists", 2, optional, "FeatureLists")),
		},
	}, nil)
	if err != nil {
		panic(err)
	}
	return d
}()

func messageType(name protoreflect.Name) protoreflect.MessageDescriptor {
	return exampleProto.Messages().ByName(name)
}

// errNoVerdict is a failure of the reference. protobuf v1.36.12 panics at a map entry that has a
// key followed by a field with the key's number but another wire type.
var errNoVerdict = errors.New("the judge panicked")

// judged parses data with the reference.
func judged(typ protoreflect.MessageDescriptor, data []byte) (m *dynamicpb.Message, err error) {
	defer func() {
		if recover() != nil {
			err = errNoVerdict
		}
	}()
	m = dynamicpb.NewMessage(typ)
	return m, proto.Unmarshal(data, m)
}

// get returns a message's field.
func get(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(name))
}

// judgedFeatures returns the text of each feature of a Features message, by key.
func judgedFeatures(m protoreflect.Message) map[string]string {
	features := map[string]string{}
	for k, v := range get(m, "feature").Map().Range {
		features[k.String()] = judgedFeature(v.Message())
	}
	return features
}

func judgedFeature(m protoreflect.Message) string {
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
	if field == nil {
		return "none"
	}
	text := map[protoreflect.Name]string{"bytes_list": "bytes", "float_list": "float", "int64_list": "int64"}[field.Name()]
	list := get(m.Get(field).Message(), "value").List()
	for i := range list.Len() {
		switch v := list.Get(i).Interface().(type) {
		case []byte:
			text += fmt.Sprintf(" %x.", v)
		case float32:
			text += fmt.Sprintf(" %08x", floatBits(v))
		default:
			text += fmt.Sprintf(" %d", v)
		}
	}
	return text
}

// floatBits returns a value's bits. The reference keeps floats as float64, which makes signalling
// NaNs quiet, so floatBits does, too.
func floatBits(v float32) uint32 {
	bits := math.Float32bits(v)
	if v != v {
		bits |= 1 << 22
	}
	return bits
}

// judgedLists is judgedFeatures for a FeatureLists message.
func judgedLists(m protoreflect.Message) map[string]string {
	lists := map[string]string{}
	for k, v := range get(m, "feature_list").Map().Range {
		text := ""
		steps := get(v.Message(), "feature").List()
		for i := range steps.Len() {
			text += judgedFeature(steps.Get(i).Message()) + "; "
		}
		lists[k.String()] = text
	}
	return lists
}

// featureText is judgedFeature for our parser, and checks that the accessors are consistent.
func featureText(t testing.TB, f Feature) string {
	t.Helper()
	text := f.Kind().String()
	ints, floats, values := f.AppendInt64s(nil), f.AppendFloats(nil), f.AppendBytes(nil)
	for _, v := range values {
		text += fmt.Sprintf(" %x.", v)
	}
	for _, v := range floats {
		text += fmt.Sprintf(" %08x", floatBits(v))
	}
	for _, v := range ints {
		text += fmt.Sprintf(" %d", v)
	}
	if n := len(ints) + len(floats) + len(values); n != f.Len() {
		t.Errorf("%s: %d values, Len is %d", text, n, f.Len())
	}
	i, hasInt := f.Int64()
	x, hasFloat := f.Float()
	b, hasBytes := f.Bytes()
	if hasInt != (len(ints) > 0) || hasInt && i != ints[0] ||
		hasFloat != (len(floats) > 0) || hasFloat && math.Float32bits(x) != math.Float32bits(floats[0]) ||
		hasBytes != (len(values) > 0) || hasBytes && !bytes.Equal(b, values[0]) {
		t.Errorf("%s: first values %v %v, %v %v, %x %v", text, i, hasInt, x, hasFloat, b, hasBytes)
	}
	return text
}

// featuresText is judgedFeatures for our parser, and checks order and access by key.
func featuresText(t testing.TB, f *Features) map[string]string {
	t.Helper()
	features := map[string]string{}
	var before []byte
	for i := range f.Len() {
		key, value := f.At(i)
		if i > 0 && bytes.Compare(before, key) >= 0 {
			t.Errorf("key %q follows %q", key, before)
		}
		before = key
		features[string(key)] = featureText(t, value)
		if got, ok := f.Get(string(key)); !ok || !slices.Equal(got.list, value.list) {
			t.Errorf("Get(%q) and At differ", key)
		}
	}
	if _, ok := f.Get("no such key\xff\xff"); ok {
		t.Error("a feature that is not there")
	}
	return features
}

// listsText is judgedLists for our parser.
func listsText(t testing.TB, l *FeatureLists) map[string]string {
	t.Helper()
	lists := map[string]string{}
	for i := range l.Len() {
		key, list := l.At(i)
		text := ""
		for k := range list.Len() {
			text += featureText(t, list.At(k)) + "; "
		}
		lists[string(key)] = text
		if got, ok := l.Get(string(key)); !ok || got.Len() != list.Len() {
			t.Errorf("Get(%q) and At differ", key)
		}
	}
	return lists
}
