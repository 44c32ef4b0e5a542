package cloud

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"

	"github.com/tfrec/tfrec/cloud/internal/faultproxy"
	"github.com/tfrec/tfrec/internal/store/storage"
)

const htmlPage = "<!DOCTYPE html>\n<html><body>Please log in</body></html>"

// listOf is the answer of a store's to a request for a list of objects, with a token of the next
// page unless that is empty.
var listOf = map[string]func(next string, names ...string) string{
	"s3": func(next string, names ...string) string {
		text := fmt.Sprintf("<?xml version=\"1.0\"?>\n<ListBucketResult><KeyCount>%d</KeyCount><IsTruncated>%v</IsTruncated>", len(names), next != "")
		if next != "" {
			text += "<NextContinuationToken>" + next + "</NextContinuationToken>"
		}
		for _, name := range names {
			text += "<Contents><Key>" + name + "</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>&quot;1&quot;</ETag><Size>1</Size></Contents>"
		}
		return text + "</ListBucketResult>"
	},
	"gs": func(next string, names ...string) string {
		var items []string
		for _, name := range names {
			items = append(items, fmt.Sprintf(`{"name": %q, "size": "1", "generation": "1", "updated": "2026-01-02T03:04:05Z"}`, name))
		}
		return fmt.Sprintf(`{"kind": "storage#objects", "nextPageToken": %q, "items": [%s]}`, next, strings.Join(items, ", "))
	},
	"azblob": func(next string, names ...string) string {
		text := "\ufeff<?xml version=\"1.0\"?><EnumerationResults><Blobs>"
		for _, name := range names {
			text += "<Blob><Name>" + name + "</Name><Properties><Last-Modified>Fri, 02 Jan 2026 03:04:05 GMT</Last-Modified><Etag>1</Etag><Content-Length>1</Content-Length></Properties></Blob>"
		}
		return text + "</Blobs><NextMarker>" + next + "</NextMarker></EnumerationResults>"
	},
}

// listServer answers the nth request for a list, from 1, with what answer returns.
func listServer(t *testing.T, scheme string, answer func(n int64) string) storage.Store {
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", map[string]string{"gs": "application/json"}[scheme])
		fmt.Fprint(w, answer(n.Add(1)))
	}))
	t.Cleanup(server.Close)
	map[string]func(testing.TB, string){"s3": useS3, "gs": useGCS, "azblob": useAzure}[scheme](t, server.URL)
	return opened(t, scheme+"://bucket")
}

// lies are answers that are no list, or not all of one, by store, with part of the error.
var lies = map[string]map[string][2]string{
	"s3": {
		"HTML":                 {htmlPage, "<html> instead of <ListBucketResult>"},
		"text":                 {"try again", "not XML"},
		"nothing":              {"", "not XML"},
		"an error":             {"<Error><Code>Busy</Code></Error>", "<Error>"},
		"another list":         {listOf["azblob"](""), "<EnumerationResults>"},
		"too few":              {strings.Replace(listOf["s3"]("", "a", "b"), "<KeyCount>2", "<KeyCount>3", 1), "2 entries that counts 3"},
		"no end":               {"<ListBucketResult></ListBucketResult>", "IsTruncated"},
		"no continuation":      {strings.Replace(listOf["s3"]("", "a"), "false", "true", 1), "NextContinuationToken"},
		"an empty one of them": {strings.Replace(listOf["s3"]("", "a"), "<IsTruncated>false", "<NextContinuationToken></NextContinuationToken><IsTruncated>true", 1), "NextContinuationToken"},
		"half":                 {listOf["s3"]("", "a", "b")[:200], ""},
	},
	"gs": {
		"HTML":       {htmlPage, "not JSON"},
		"an object":  {`{"kind": "storage#object"}`, "storage#object"},
		"no kind":    {`{"items": []}`, "no kind"},
		"an array":   {`[1]`, "not an object"},
		"nothing":    {"", "not JSON"},
		"empty JSON": {"{}", "no kind"},
		"half":       {listOf["gs"]("", "a", "b")[:80], ""},
	},
	"azblob": {
		"HTML":      {htmlPage, "<html> instead of <EnumerationResults>"},
		"nothing":   {"", ""},
		"no blobs":  {"<EnumerationResults><NextMarker /></EnumerationResults>", "without <Blobs>"},
		"no marker": {"<EnumerationResults><Blobs></Blobs></EnumerationResults>", "without <NextMarker>"},
		"half":      {listOf["azblob"]("", "a", "b")[:90], ""},
	},
}

// What is no list is asked for again, and an error that says what came when that does not help.
func TestListsThatAreNone(t *testing.T) {
	for scheme, list := range listOf {
		for name, lie := range lies[scheme] {
			t.Run(scheme+" "+name, func(t *testing.T) {
				store := listServer(t, scheme, func(n int64) string {
					switch n {
					case 1, 3: // then from the beginning: the library makes one page of short ones
						return lie[0]
					case 2, 4:
						return list("more", "a", "b")
					}
					return list("", "c")
				})
				var names []string
				for o, err := range store.List(t.Context(), "", true) {
					if err != nil {
						t.Fatal(err)
					}
					names = append(names, o.Name)
				}
				if !slices.Equal(names, []string{"a", "b", "c"}) {
					t.Errorf("listed %q", names)
				}
				store = listServer(t, scheme, func(int64) string { return lie[0] })
				_, err := onePage(t.Context(), store)
				if err == nil || !strings.Contains(err.Error(), lie[1]) || lie[1] != "" && !strings.Contains(err.Error(), "127.0.0.1:") {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// onePage asks once for the beginning of a list.
func onePage(ctx context.Context, store storage.Store) ([]*blob.ListObject, error) {
	var b *bucket
	switch store := store.(type) {
	case *s3Bucket:
		b = store.bucket
	case *bucket:
		b = store
	}
	page, _, err := b.blob.ListPage(b.asked(ctx), blob.FirstPageToken, pageSize, nil)
	if err != nil {
		err = b.failed(err)
	}
	return page, err
}

// A list does not go round in circles.
func TestListsThatReturn(t *testing.T) {
	for scheme, list := range listOf {
		for name, pages := range map[string][2]string{
			"to the same page":       {list("x", "a"), list("x", "b")},
			"with another token":     {list("x", "a"), list("y", "a")}, // as by a server that ignores tokens
			"and has nothing to say": {list("x"), list("x")},
		} {
			t.Run(scheme+" "+name, func(t *testing.T) {
				store := listServer(t, scheme, func(n int64) string {
					switch n {
					case 1:
						return pages[0]
					case 2:
						return pages[1]
					}
					return list("", "z")
				})
				var names []string
				for o, err := range store.List(t.Context(), "", true) {
					if err != nil {
						t.Fatal(err)
					}
					names = append(names, o.Name)
				}
				if !slices.Equal(names, []string{"z"}) { // the library makes one page of short ones
					t.Errorf("listed %q", names)
				}
			})
		}
	}
}

// The faults of the proxy reach a client without checks, and do not get through to one with them.
func TestListsThroughFaults(t *testing.T) {
	all := &objects{contents: map[string]string{}, page: 50}
	for i := range 100 {
		all.contents[fmt.Sprintf("images/%03d.jpg", i)] = "x"
	}
	proxy := &faultproxy.Proxy{Shares: faultproxy.Shares{faultproxy.Page: 0.1, faultproxy.Thin: 0.1}}
	address := faults(t, proxy, "s3", all.serve(t))
	plain := s3.New(s3.Options{BaseEndpoint: &address, UsePathStyle: true, Region: "us-east-1", Credentials: aws.AnonymousCredentials{}})
	harmed := 0
	for range 20 {
		page, err := plain.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("bucket")})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Contents) < 50 {
			harmed++
		}
	}
	if harmed < 2 {
		t.Errorf("a plain client lost entries %d times in 20", harmed)
	}
	useS3(t, address)
	store, n := opened(t, "s3://bucket"), 0
	for o, err := range store.List(t.Context(), "images/", true) {
		if want := fmt.Sprintf("images/%03d.jpg", n); err != nil || o.Name != want {
			t.Fatalf("%q, %v: not %q", o.Name, err, want)
		}
		n++
	}
	if n != 100 {
		t.Errorf("listed %d", n)
	}
}
