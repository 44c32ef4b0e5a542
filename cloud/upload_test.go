package cloud

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

const part = 8 << 20

// stores are the kinds of stores that are tested. Each server has an empty bucket.
var stores = map[string]struct {
	serve func(t testing.TB) (address string)
	use   func(t testing.TB, address string)
}{
	"s3":     {emptyS3Server, useS3},
	"gs":     {func(t testing.TB) string { return gcsServer(t, bucketDirectory(t)) }, useGCS},
	"azblob": {func(t testing.TB) string { return azureServer(t, "bucket") }, useAzure},
}

// bucketFolder returns a directory with an empty bucket in it.
func bucketDirectory(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "bucket"), 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// opened opens a store again.
func opened(t testing.TB, url string) storage.Store {
	t.Helper()
	storage.Forget()
	s, _, err := storage.Parse(url).Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	traits := storagetest.Traits{Part: part, Names: storagetest.OddNames, Listed: 1100}
	t.Run("mem", func(t *testing.T) { storagetest.Conformance(t, opened(t, "mem://bucket"), traits) })
	for name, server := range stores {
		t.Run(name, func(t *testing.T) {
			server.serve(t)
			traits := traits
			traits.UploadsOfAll = name == "s3" && os.Getenv(onMinIO) != ""
			storagetest.Conformance(t, opened(t, name+"://bucket"), traits)
		})
	}
	// Amazon's servers get a checksum of each body besides the signature's.
	t.Run("s3 with checksums", func(t *testing.T) {
		stores["s3"].serve(t)
		t.Setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "when_supported")
		storagetest.Conformance(t, opened(t, "s3://bucket"), storagetest.Traits{Part: part, UploadsOfAll: os.Getenv(onMinIO) != ""})
	})
}

// Despite faults, objects are complete or do not exist, and nothing is left of aborted ones.
func TestWritingThroughFaults(t *testing.T) {
	const objects, workers, large = 48, 8, 5
	for name, server := range stores {
		t.Run(name, func(t *testing.T) {
			proxy := &faultproxy.Proxy{Shares: faultproxy.Shares{
				faultproxy.Busy: 0.2, faultproxy.Drop: 0.05, faultproxy.Lose: 0.05, faultproxy.Cut: 0.2, faultproxy.Slow: 0.1,
			}, Only: unlessAppended(name)}
			server.use(t, faults(t, proxy, name, server.serve(t)))
			store := opened(t, name+"://bucket")
			data := make([][]byte, objects)
			random := rand.New(rand.NewPCG(1, 2))
			for i := range data {
				data[i] = make([]byte, random.IntN(300_000))
				if i < large {
					data[i] = make([]byte, part+random.IntN(2*part))
				}
				rand.NewChaCha8([32]byte{byte(i)}).Read(data[i])
			}
			var work sync.WaitGroup
			for w := range workers {
				work.Go(func() {
					for i := w; i < objects; i += workers {
						path := fmt.Sprintf("some/%02d", i)
						if is, err := storage.Put(t.Context(), store, path, data[i], storage.CreateOptions{}); err != nil || is.Size != int64(len(data[i])) {
							t.Errorf("%s: %+v, %v", path, is, err)
						}
						u, err := store.Create(t.Context(), fmt.Sprintf("aborted/%02d", i), storage.CreateOptions{})
						if err == nil {
							_, err = u.Write(data[i])
							u.Abort()
						}
						if err != nil {
							t.Errorf("%s aborted: %v", path, err)
						}
					}
				})
			}
			work.Wait()
			found := 0
			for o, err := range store.List(t.Context(), "", true) {
				if err != nil {
					t.Fatal(err)
				}
				var i int
				fmt.Sscanf(o.Name, "some/%d", &i)
				got, err := storage.ReadFile(t.Context(), name+"://bucket/"+o.Name, 1<<30)
				if err != nil || sha256.Sum256(got) != sha256.Sum256(data[i]) {
					t.Errorf("%s: %d bytes, other than the %d that were written: %v", o.Name, len(got), len(data[i]), err)
				}
				found++
			}
			if found != objects {
				t.Errorf("%d objects", found)
			}
			if n, of := proxy.Count(""), proxy.Requests(); n < of/4 || of < 3*objects {
				t.Errorf("only %d faults in %d requests", n, of)
			}
			if s, ok := store.(storage.Unfinished); ok {
				// An upload whose creation was not reported could not be aborted.
				want := proxy.Count(faultproxy.Lose, "begin")
				for range 2 {
					left := 0
					for l, err := range s.Unfinished(t.Context(), "") {
						if err == nil {
							err = s.Discard(t.Context(), l)
						}
						if err != nil {
							t.Fatal(err)
						}
						left++
					}
					if left != want {
						t.Errorf("%d uploads were left, not %d", left, want)
					}
					want = 0
				}
			}
		})
	}
}
