package labelmap

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tfrec/tfrec/internal/annotation"
)

var classes = []annotation.Class{
	{ID: 1, Name: "person"}, {ID: 18, Name: `o'val "ring" \ {x}`}, {ID: 90, Name: "vieleck-ä 犬\u2028"}, {ID: 0, Name: "a\nb\tc\x00\x7f"}, {ID: -3, Name: "#:;,<>[]"},
}

func TestRoundTrip(t *testing.T) {
	text := Append(nil, classes)
	got, err := Parse(text)
	if err != nil || !slices.Equal(got, classes) {
		t.Fatalf("%s: %v, %v", text, got, err)
	}
	want := "item {\n  id: 1\n  name: \"person\"\n}\n"
	if !strings.HasPrefix(string(text), want) {
		t.Errorf("%s, want %s", text, want)
	}
	for _, crlf := range []string{strings.ReplaceAll(string(text), "\n", "\r\n"), "\n\n" + string(text) + "# end"} {
		if got, err := Parse([]byte(crlf)); err != nil || !slices.Equal(got, classes) {
			t.Errorf("%q: %v, %v", crlf, got, err)
		}
	}
	odd := []annotation.Class{{ID: 1, Name: "not \xff UTF-8"}}
	if got, err := Parse(Append(nil, odd)); err != nil || !slices.Equal(got, odd) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "[]",
		"item{id:1 name:'cat'}":               `[{1 "cat"}]`,
		"item: <id: 0x1F, name: 'a' \"b\"; >": `[{31 "ab"}]`,
		"item { name: 'n01'  id: 010 display_name: \"shown\" }":                                                                                                  `[{8 "n01"}]`,
		"item { name: '/m/01g317' id: 2 display_name: 'x' } item { id: 3 display_name: 'only' }":                                                                 `[{2 "/m/01g317"} {3 "only"}]`,
		"item: [{id: 1 name: 'a'}, {id: 2 name: 'b'}]":                                                                                                           `[{1 "a"} {2 "b"}]`,
		"# comment\nitem { # more\n id: 1 name: '\\x41\\101\\u00e4\\U0001F600' }":                                                                                `[{1 "AAä😀"}]`,
		"item { id: 1 name: 'a' frequency: FREQUENT instance_count: -5 keypoints { id: 1 label: 'nose' } ancestor_ids: [1, 2] color < r: 1.5e-3f > [x.y/z]: 1 }": `[{1 "a"}]`,
	} {
		classes, err := Parse([]byte(text))
		got := "["
		for i, c := range classes {
			got += strings.Repeat(" ", min(i, 1)) + fmt.Sprintf("{%d %q}", c.ID, c.Name)
		}
		if got += "]"; err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"item {\n id: 1\n name: 'a'":                                    `line 3: the end of the file`,
		"item {\n id: 1\n name: 'a }\n":                                 `line 3: "'a }", want a string`,
		"item { id: 'x' }":                                              `want an integer`,
		"item { id: 9223372036854775808 name: 'a' }":                    "64 bits",
		"item { id: 09 name: 'a' }":                                     "64 bits",
		"item { id: 1.5 name: 'a' }":                                    "64 bits",
		"item { id 1 }":                                                 "want a colon",
		"item { name: 'a' }":                                            "without id",
		"item { id: 4 }":                                                "item 4 has neither",
		"item { id: 4 name: '' }":                                       "item 4 has neither",
		"item { id: 4 name: 'a' }\nitem { id: 4 name: 'b'}":             "line 2: two items with id 4",
		"item { id: 4 name: '\\q' }":                                    "bad escape",
		"item { id: 4 name: '\\400' }":                                  "bad escape",
		"item { id: 4 name: '\\ud800' }":                                "bad escape",
		"item { id: 4 name: '" + strings.Repeat("x", maxName+1) + "' }": "more than 4096",
		strings.Repeat("a {", 1_000_000):                                "nested more than 64 deep",
		"person\ncar\n":                                                 "want a colon or {",
		"{\"person\": 1}":                                               "want the name of a field",
		"item [ {id: 1 name: 'a'} ":                                     "comma or ]",
	} {
		if got, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100q: %v, %v, want %q", text, got, err, want)
		}
	}
}

// labelMap is the Object Detection API's message.
var labelMap = func() protoreflect.MessageDescriptor {
	field := func(name string, number int32, t descriptorpb.FieldDescriptorProto_Type, label descriptorpb.FieldDescriptorProto_Label) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &t, Label: &label}
	}
	optional, repeated := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	text := descriptorpb.FieldDescriptorProto_TYPE_STRING
	items := field("item", 1, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, repeated)
	items.TypeName = proto.String(".StringIntLabelMapItem")
	f, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{Name: proto.String("m.proto"), Syntax: proto.String("proto2"), MessageType: []*descriptorpb.DescriptorProto{
		{Name: proto.String("StringIntLabelMapItem"), Field: []*descriptorpb.FieldDescriptorProto{
			field("name", 1, text, optional), field("id", 2, descriptorpb.FieldDescriptorProto_TYPE_INT64, optional), field("display_name", 3, text, optional),
		}},
		{Name: proto.String("StringIntLabelMap"), Field: []*descriptorpb.FieldDescriptorProto{items}},
	}}, nil)
	if err != nil {
		panic(err)
	}
	return f.Messages().ByName("StringIntLabelMap")
}()

// judge is what Go's library reads.
func judge(text []byte) (classes []annotation.Class, err error) {
	m := dynamicpb.NewMessage(labelMap)
	if err := (prototext.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, m); err != nil {
		return nil, err
	}
	items := m.Get(labelMap.Fields().ByName("item")).List()
	for i := range items.Len() {
		item := items.Get(i).Message()
		get := func(name string) protoreflect.Value {
			return item.Get(item.Descriptor().Fields().ByName(protoreflect.Name(name)))
		}
		name := get("name").String()
		if name == "" {
			name = get("display_name").String()
		}
		classes = append(classes, annotation.Class{ID: get("id").Int(), Name: name})
	}
	return classes, nil
}

func TestProtobufReadsLabelMaps(t *testing.T) {
	got, err := judge(Append(nil, classes))
	if err != nil || !slices.Equal(got, classes) {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Append(nil, classes))
	f.Add([]byte("item: [<id: 0x1F, name: 'a' \"b\\u00e4\"; >] # c\nitem { id: -3 display_name: 'x' k { l: [1, A] } }"))
	f.Fuzz(func(t *testing.T, text []byte) {
		classes, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(Append(nil, classes))
		if err != nil || !slices.Equal(again, classes) {
			t.Fatalf("%v: %v, %v", classes, again, err)
		}
		// What both read is the same. This package takes some that is not the text format.
		if judged, err := judge(text); err == nil && !slices.Equal(judged, classes) {
			t.Fatalf("%q: %v, the library reads %v", text, classes, judged)
		}
	})
}
