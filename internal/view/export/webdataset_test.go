package export

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestWebDatasetMembers(t *testing.T) {
	with := func(name string, id int64, more exporttest.Build) exporttest.Build {
		return func(b *tfrecord.Builder) {
			exporttest.Photo(name, "a")(b)
			b.Int64("image/class/label", id)
			if more != nil {
				more(b)
			}
		}
	}
	in := exporttest.WriteRecords(t, "images",
		with("a/1.jpg", 7, nil),
		with("a/2.jpg", -1, func(b *tfrecord.Builder) {
			b.Float("f", 0.5)
			b.Int64("list", 1, 2)
			b.Int64("none")
			b.Bytes("raw", []byte("\xff\x00"))
			b.String("text", "é\"\n")
		}),
		exporttest.Photo("a/3.jpg", "a"))
	out := filepath.Join(t.TempDir(), "web")
	report, err := exportTo(t, out, spec.Options{Format: spec.WebDataset}, in)
	if err != nil || report.Records != 3 || report.Files != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	names, contents := exporttest.TarMembers(t, filepath.Join(out, "train-000000.tar"))
	ext := filepath.Ext(names[0])
	if want := []string{"000000000" + ext, "000000000.cls", "000000000.json", "000000001" + ext, "000000001.cls", "000000001.json", "000000002" + ext, "000000002.json"}; !slices.Equal(names, want) {
		t.Fatalf("%q, want %q", names, want)
	}
	if contents[1] != "7" || contents[4] != "-1" {
		t.Errorf("labels %q and %q", contents[1], contents[4])
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(contents[5]), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"image/filename": "a/2.jpg", "image/class/label": -1, "f": 0.5, "list": []any{1, 2}, "none": []any{}, "text": "é\"\n",
		"raw.base64": base64.StdEncoding.EncodeToString([]byte("\xff\x00")), "image/encoded": nil, "raw": nil,
	} {
		if fmt.Sprint(got[key]) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
}

func TestWebDatasetFailuresLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	in := exporttest.WriteRecords(t, "images", exporttest.Photo("a/1.jpg", "a"), func(b *tfrecord.Builder) { b.Int64("x", 1) })
	if _, err := exportTo(t, filepath.Join(dir, "web"), spec.Options{Format: spec.WebDataset}, in); err == nil || !strings.Contains(err.Error(), "no feature image/encoded") {
		t.Errorf("%v", err)
	}
	exporttest.WantOnly(t, dir)
}
