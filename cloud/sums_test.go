package cloud

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// stated are checksums as S3 states them.
var stated = map[string]func(http.Header, string){
	"ETag":   nil,
	"crc32c": header("Crc32c", storage.CRC32C), "crc32": header("Crc32", storage.CRC32),
	"crc64nvme": header("Crc64nvme", storage.CRC64NVME), "sha256": header("Sha256", storage.SHA256),
}

// header states a checksum in place of the ETag's MD5.
func header(name string, kind storage.SumKind) func(http.Header, string) {
	return func(h http.Header, data string) {
		h.Set("ETag", `"one"`)
		h.Set("X-Amz-Checksum-"+name, base64.StdEncoding.EncodeToString([]byte(storage.SumOf(kind, []byte(data)).Value)))
	}
}

// Flipped bits do not get through to a reader, and do without checksums.
func TestFlippedBits(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	all := &objects{contents: map[string]string{}, page: 100}
	for i := range 8 {
		data := make([]byte, 1+random.IntN(20_000))
		for n := range data {
			data[n] = byte(random.Uint32())
		}
		all.contents[fmt.Sprint(i)] = string(data)
	}
	address := all.serve(t)
	unchecked := func(h http.Header, data string) {
		h.Set("ETag", fmt.Sprintf("\"%x-1\"", len(data))) // as that of an object in parts
	}
	harmed := func() (n int) {
		// All of an object, through the two ways that there are.
		for name, want := range all.contents {
			at := storage.Parse("s3://bucket/" + name)
			whole, err := storage.ReadFile(t.Context(), at.String(), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			is := storage.Object{Name: name, Size: int64(len(want)), Version: versionOf(t, at)}
			listed, err := at.ReadListed(t.Context(), is, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range [][]byte{whole, listed} {
				if !bytes.Equal(got, []byte(want)) {
					n++
				}
			}
		}
		return n
	}
	proxy := &faultproxy.Proxy{Shares: faultproxy.Shares{faultproxy.Flip: 0.3, faultproxy.Cut: 0.2}}
	useS3(t, faults(t, proxy, "s3", address))
	for name, states := range stated {
		all.states = states
		storage.Forget()
		if n := harmed(); n > 0 {
			t.Errorf("%s: %d objects came with flipped bits", name, n)
		}
	}
	all.states = unchecked
	storage.Forget()
	if harmed() == 0 {
		t.Error("without checksums, nothing came with flipped bits: the proxy does no harm")
	}
}

// versionOf returns the version of an object.
func versionOf(t *testing.T, at storage.Location) string {
	t.Helper()
	store, name, err := at.Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	is, err := storage.Look(t.Context(), store, name)
	if err != nil {
		t.Fatal(err)
	}
	return is.Version
}

// An ETag that looks like an MD5 and is not one costs a second request, and a range of an object is
// not held to the checksum of all of it.
func TestETagsThatAreNoSums(t *testing.T) {
	all := &objects{contents: map[string]string{"x": strings.Repeat("abc", 1000)}, states: func(h http.Header, _ string) { h.Set("ETag", tagOf("something else")) }}
	useS3(t, all.serve(t))
	storage.Forget()
	if data, err := storage.ReadFile(t.Context(), "s3://bucket/x", 1<<20); err != nil || string(data) != all.contents["x"] {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	all.states = header("Crc32c", storage.CRC32C)
	store := opened(t, "s3://bucket")
	for _, length := range []int64{2999, 3000, 4000} {
		body, is, err := store.Open(context.Background(), "x", "", 0, length)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, body); err != nil || (is.Sum.Kind != "") != (length >= 3000) {
			t.Errorf("%d bytes: %+v, %v", length, is.Sum, err)
		}
		body.Close()
	}
}
