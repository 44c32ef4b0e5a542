package export

import (
	"archive/tar"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

// tarMembers are the names and contents in a tar, in order. Its headers tell nothing of the time or
// the user.
func tarMembers(t *testing.T, path string) (names []string, contents []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if err == io.EOF {
			return names, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil || h.ModTime.Unix() != 0 || h.Uid != 0 || h.Uname != "" {
			t.Fatalf("%s: %+v, %v", path, h, err)
		}
		names, contents = append(names, h.Name), append(contents, string(data))
	}
}

func TestWebDatasetMembers(t *testing.T) {
	with := func(name string, id int64, more build) build {
		return func(b *tfrecord.Builder) {
			photo(name, "a")(b)
			b.Int64("image/class/label", id)
			if more != nil {
				more(b)
			}
		}
	}
	in := write(t, "images",
		with("a/1.jpg", 7, nil),
		with("a/2.jpg", -1, func(b *tfrecord.Builder) {
			b.Float("f", 0.5)
			b.Int64("list", 1, 2)
			b.Int64("none")
			b.Bytes("raw", []byte("\xff\x00"))
			b.String("text", "é\"\n")
		}),
		photo("a/3.jpg", "a"))
	out := filepath.Join(t.TempDir(), "web")
	report, err := exportTo(t, out, Options{Format: WebDataset}, in)
	if err != nil || report.Records != 3 || report.Files != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	names, contents := tarMembers(t, filepath.Join(out, "train-000000.tar"))
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

// Tars are bounded in size and of one split; their samples are all records in order.
func TestWebDatasetTarsAreBounded(t *testing.T) {
	var builds []build
	for i := range 50 {
		builds = append(builds, photo(fmt.Sprintf("a/%d.jpg", i), strings.Repeat("x", i*200)))
	}
	in, err := openInputs(context.Background(), []string{write(t, "images", builds...)}, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w := &tarWriter{outFiles: outFiles{tree: &localTree{root: root}, report: &Report{}}, o: &Options{ImageKey: imagekey.Encoded}, images: imageReader{key: imagekey.Encoded}, limit: 20_000}
	if _, err := in.each(context.Background(), nil, w.add); err != nil {
		t.Fatal(err)
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	tars, _ := filepath.Glob(filepath.Join(dir, "train-*.tar"))
	next, bytes := 0, int64(0)
	for _, path := range tars {
		names, _ := tarMembers(t, path)
		st, err := os.Stat(path)
		if err != nil || st.Size() > 20_000+1024 && len(names) > 2 {
			t.Errorf("%s of %d members has %d bytes, %v", path, len(names), st.Size(), err)
		}
		bytes += st.Size()
		for _, name := range names {
			if strings.HasSuffix(name, ".json") {
				if name != fmt.Sprintf("%09d.json", next) {
					t.Errorf("%s is after %d", name, next)
				}
				next++
			}
		}
	}
	if next != 50 || len(tars) < 5 || w.report.Files != int64(len(tars)) || w.report.Bytes != bytes {
		t.Errorf("%d samples in %d tars of %d bytes, reported %+v", next, len(tars), bytes, w.report)
	}
}

func TestWebDatasetFailuresLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	in := write(t, "images", photo("a/1.jpg", "a"), func(b *tfrecord.Builder) { b.Int64("x", 1) })
	if _, err := exportTo(t, filepath.Join(dir, "web"), Options{Format: WebDataset}, in); err == nil || !strings.Contains(err.Error(), "no feature image/encoded") {
		t.Errorf("%v", err)
	}
	wantOnly(t, dir)
}
