package convert

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
)

// TestMemoryMakesTheSameSet converts with memory for all images, for some, and for less than one,
// with and without batches: no run hangs, and the set is always the same.
func TestMemoryMakesTheSameSet(t *testing.T) {
	t.Parallel()
	src := demo(t)
	o := ImageOptions{Options: Options{Name: "pets", Shards: 2, MaxErrors: Tolerance{Count: 100}}, Resize: augment.ResizeSpec{Square: 48, NoAntialias: true}}
	want := t.TempDir()
	first := mustImages(t, src, want, o)
	for _, memory := range []int64{1, 1 << 20, 4 << 20} {
		for _, backend := range []augment.Backend{nil, new(batches)} {
			o := o
			o.Memory, o.Backend, o.Workers = memory, backend, 4
			out := t.TempDir()
			if s := mustImages(t, src, out, o); s.Fingerprint != first.Fingerprint {
				t.Errorf("%d bytes: another fingerprint", memory)
			}
			sameSet(t, contents(t, out), contents(t, want))
		}
	}
	o.Memory = -1
	if _, err := Images(context.Background(), src, t.TempDir(), o); !ofOption(err) || !strings.Contains(err.Error(), "ImageOptions.Memory") {
		t.Errorf("-1 bytes: %v", err)
	}
}

// TestAllowArithmetic: arithmetic coding gives a ledger entry that says how to allow it, and is an
// option of the set if it is allowed.
func TestAllowArithmetic(t *testing.T) {
	t.Parallel()
	src := directories(t, 4)
	data, err := os.ReadFile("../testdata/pictures/ljt-testimgari.jpg")
	if err != nil {
		t.Fatal(err)
	}
	put(t, src, "a/ari.jpg", data)
	o := ImageOptions{Options: Options{Name: "n", Shards: 1, MaxErrors: Tolerance{Count: 1}}, Encode: EncodeSpec{Format: PNG}}
	out := t.TempDir()
	if s := mustImages(t, src, out, o); s.Errors != 1 || !strings.Contains(contents(t, out)["errors.jsonl"], "(convert.Images with CodecOptions.AllowArithmetic)") {
		t.Errorf("%d errors; the ledger: %s", s.Errors, contents(t, out)["errors.jsonl"])
	}
	o.Codec.AllowArithmetic = true
	if _, err := Images(context.Background(), src, out, o); err == nil || !strings.Contains(err.Error(), "CodecOptions.AllowArithmetic") {
		t.Errorf("with another option: %v", err)
	}
	out = t.TempDir()
	want := int64(0)
	if _, err := augment.NewCodec(augment.CodecOptions{Decoder: "turbo"}); err != nil || os.Getenv("TFREC_NO_TURBO") == "1" {
		want = 1
	}
	if s := mustImages(t, src, out, o); s.Errors != want {
		t.Errorf("%d errors where it is allowed, want %d", s.Errors, want)
	}
	if manifest := contents(t, out)["manifest.json"]; !strings.Contains(manifest, `"allow_arithmetic":true`) && !strings.Contains(manifest, `"allow_arithmetic": true`) {
		t.Error("the manifest does not say that arithmetic coding was allowed")
	}
}
