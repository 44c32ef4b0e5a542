package cloud

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// azureBlob is a server of Azure's protocol that has one object, computes checksums of ranges as
// Azure does, and flips bits of some answers.
type azureBlob struct {
	data  []byte
	flips func(n int) (bit int, flip bool) // of an answer of n bytes
	plain bool                             // states no checksums
	old   bool                             // refuses to, as Azurite does

	mu      sync.Mutex
	summed  int
	refused int
}

func (s *azureBlob) serve(t *testing.T) {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	useAzure(t, server.URL)
	storage.Forget()
}

func (s *azureBlob) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, length := int64(0), int64(len(s.data))
	asked := r.Header.Get("X-Ms-Range")
	if asked != "" {
		fmt.Sscanf(asked, "bytes=%d-", &from)
		if length = rangeLength(asked); length == 0 {
			length = int64(len(s.data))
		}
	}
	wanted := r.Header.Get("X-Ms-Range-Get-Content-Crc64") == "true"
	if wanted && (asked == "" || length > 4<<20) {
		s.refused++
		w.WriteHeader(http.StatusBadRequest) // as Azure does
		return
	}
	if wanted && s.old {
		s.refused++
		w.Header().Set("X-Ms-Error-Code", "FeatureNotSupported")
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	content := bytes.Clone(s.data[from:min(from+length, int64(len(s.data)))])
	h := w.Header()
	h.Set("ETag", `"0x1"`)
	h.Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
	h.Set("X-Ms-Blob-Type", "BlockBlob")
	h.Set("Content-Length", fmt.Sprint(len(content)))
	h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, from+int64(len(content))-1, len(s.data)))
	if wanted && !s.plain {
		s.summed++
		sum := crc64.Checksum(content, crc64.MakeTable(0x9a6c9329ac4bc9b5))
		h.Set("X-Ms-Content-Crc64", base64.StdEncoding.EncodeToString(binary.LittleEndian.AppendUint64(nil, sum)))
	}
	if bit, flip := s.flips(len(content)); flip {
		content[bit/8] ^= 1 << (bit % 8)
	}
	w.WriteHeader(http.StatusPartialContent)
	w.Write(content)
}

// Each range of an object in Azure is held to the CRC that Azure computes of it: what flips is
// requested again. A server without such CRCs is read without.
func TestAzureSumsOfRanges(t *testing.T) {
	random := torture.Rand(t)
	data := make([]byte, 9<<20+321)
	rand.NewChaCha8([32]byte{3}).Read(data)
	share := 0.2
	s := &azureBlob{data: data}
	s.flips = func(n int) (int, bool) { return random.IntN(8 * n), s.summed == 1 || random.Float64() < share }
	s.serve(t)
	read := func() ([]byte, error) {
		f, err := storage.Open(t.Context(), "azblob://bucket/x")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return io.ReadAll(f)
	}
	before := storage.Harmed()
	for range 4 {
		if got, err := read(); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%v, equal: %v", err, bytes.Equal(got, data))
		}
	}
	if s.summed == 0 || s.refused > 0 {
		t.Errorf("%d checksums, %d requests refused", s.summed, s.refused)
	}
	if storage.Harmed() == before {
		t.Errorf("nothing flipped, of %d answers", s.summed)
	}

	// A record of more than 4 MiB is a range that Azure would refuse.
	f, err := storage.Open(t.Context(), "azblob://bucket/x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	share = 0
	p := make([]byte, 5<<20)
	if _, err := f.ReadAt(p, 3<<20); err != nil || !bytes.Equal(p, data[3<<20:8<<20]) {
		t.Errorf("5 MiB at a time: %v", err)
	}

	s.old = true
	// The first range alone: of several at the same time, each might be refused.
	if _, err := f.ReadAt(p[:1], 1<<20); err != nil || p[0] != data[1<<20] || s.refused != 1 {
		t.Errorf("where checksums are refused: %v, %d times", err, s.refused)
	}
	for range 2 {
		if got, err := read(); err != nil || !bytes.Equal(got, data) || s.refused != 1 {
			t.Errorf("where checksums are refused: %v, %d times", err, s.refused)
		}
	}
	s.old, s.plain = false, true
	storage.Forget()
	if got, err := read(); err != nil || !bytes.Equal(got, data) {
		t.Errorf("without checksums: %v", err)
	}
}

func TestRangeLength(t *testing.T) {
	for s, want := range map[string]int64{"bytes=0-9": 10, "bytes=5-5": 1, "bytes=5-": 0, "": 0, "bytes=9-5": 0, "bytes=-5": 0} {
		if got := rangeLength(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}
