package cloud

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// TestBusy has servers refuse requests because there are too many, and for other reasons: only the
// former are a sign to make fewer at a time.
func TestBusy(t *testing.T) {
	for _, test := range []struct {
		url string
		use func(t testing.TB, address string)
	}{
		{"s3://bucket", useS3},
		{"gs://bucket", useGCS},
		{"azblob://bucket", useAzure},
	} {
		for status, busy := range map[int]bool{429: true, 503: true, 500: false, 403: false} {
			t.Run(fmt.Sprint(test.url, " ", status), func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
				t.Cleanup(server.Close)
				test.use(t, server.URL)
				_, _, err := opened(t, test.url).Open(t.Context(), "x", "", 0, 100)
				if err == nil || errors.Is(err, storage.ErrBusy) != busy {
					t.Errorf("%v: busy %v", err, errors.Is(err, storage.ErrBusy))
				}
			})
		}
	}
}
