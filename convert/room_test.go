package convert

import (
	"context"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/manifest"
)

// The estimated size of a planned shard is close to the actual one, or 0 if that requires the
// images' dimensions.
func TestPlannedBytesOfImages(t *testing.T) {
	const src = "../testdata/demo/photos"
	for name, test := range map[string]struct {
		o       ImageOptions
		unknown bool
	}{
		"kept":        {o: ImageOptions{Encode: EncodeSpec{Format: Keep}}},
		"resized":     {o: ImageOptions{Encode: EncodeSpec{Format: Raw}, Resize: augment.ResizeSpec{Width: 40, Height: 30, NoAntialias: true}}},
		"not resized": {o: ImageOptions{Encode: EncodeSpec{Format: Raw}}, unknown: true},
	} {
		o, out := test.o, t.TempDir()
		o.Shards = 3
		sum, err := Images(t.Context(), src, out, o)
		if err != nil {
			t.Fatal(err)
		}
		actual := map[string]manifest.Shard{}
		m, err := manifest.Read(t.Context(), out+"/"+manifest.File)
		if err != nil {
			t.Fatalf("%v after %+v", err, sum)
		}
		for _, split := range m.Splits {
			for _, info := range split.Shards {
				actual[info.File] = info
			}
		}
		in := &imageInput{o: &o, src: src}
		if err := in.Scan(context.Background(), out); err != nil {
			t.Fatal(err)
		}
		s, err := in.Plan(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range s.Layout().Shards {
			is := actual[j.Name.String()].Bytes
			if is == 0 || (j.Bytes == 0) != test.unknown || j.Bytes != 0 && (j.Bytes < is*9/10 || j.Bytes > is*11/10) {
				t.Errorf("%s: %s has %d bytes, estimated at %d", name, j.Name, is, j.Bytes)
			}
		}
	}
}
