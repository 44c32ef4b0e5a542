package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/blob"
)

// The libraries accept any answer of status 200 as a list: they read a page of HTML as an empty
// one. So the required elements of a list are checked here, below the libraries.

// aList describes the expected answer to a request for a list, in errors.
const aList = "a list"

// mostBeforeRoot bounds the bytes of an answer before the element that identifies it as a list.
const mostBeforeRoot = 64 << 10

// opening passes the beginning of an answer to look, which checks it with a decoder's tokens. Then
// all of the answer can still be read. asked describes the expected answer for errors.
func opening(r *http.Response, asked string, look func(io.Reader) error) error {
	var seen bytes.Buffer
	err := look(io.TeeReader(io.LimitReader(r.Body, mostBeforeRoot), &seen))
	if err == nil {
		r.Body = &struct {
			io.Reader
			io.Closer
		}{io.MultiReader(&seen, r.Body), r.Body}
		return nil
	}
	r.Body.Close()
	var other *otherError
	if !errors.As(err, &other) {
		return err
	}
	begin := seen.Bytes()
	return &strangeError{r.Request.URL.Host, asked, fmt.Sprintf("%s (%s, beginning with %q)", other.what, statedType(r.Header), begin[:min(len(begin), 80)])}
}

func statedType(h http.Header) string {
	if t := h.Get("Content-Type"); t != "" {
		return t
	}
	return "of no stated type"
}

// otherError means that an answer is of another kind than expected.
type otherError struct{ what string }

func (e *otherError) Error() string { return e.what }

// rootIs returns what looks for the root element of XML, which is one of those.
func rootIs(want ...string) func(io.Reader) error {
	return func(r io.Reader) error {
		d := xml.NewDecoder(r)
		for {
			t, err := d.Token()
			var syntax *xml.SyntaxError
			switch root, ok := t.(xml.StartElement); {
			case err == io.EOF || errors.As(err, &syntax):
				return &otherError{"something that is not XML"}
			case err != nil:
				return err
			case ok && slices.Contains(want, root.Name.Local):
				return nil
			case ok:
				return &otherError{"<" + root.Name.Local + "> instead of <" + want[0] + ">"}
			}
		}
	}
}

// kindIs looks for the kind that lists of Google's have.
func kindIs(r io.Reader) error {
	const want = "storage#objects"
	d := json.NewDecoder(r)
	t, err := d.Token()
	if err == nil && t != json.Delim('{') {
		return &otherError{"something that is not an object of JSON"}
	}
	for err == nil && d.More() {
		var key json.Token
		var value json.RawMessage
		if key, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if err == nil && key == "kind" {
			if kind := string(value); kind != `"`+want+`"` {
				return &otherError{"JSON of kind " + kind + " instead of " + want}
			}
			return nil
		}
	}
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return &otherError{"JSON that has no kind"}
	case err == io.EOF || err == io.ErrUnexpectedEOF || errors.As(err, &syntax):
		return &otherError{"something that is not JSON"}
	}
	return err
}

// s3Lists checks the answers to S3's requests for lists.
func s3Lists(stack *middleware.Stack) error {
	root := map[string]string{"ListObjectsV2": "ListBucketResult", "ListMultipartUploads": "ListMultipartUploadsResult"}[stack.ID()]
	if root == "" {
		return nil
	}
	server := "" // that answered
	asked := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if page, ok := in.Parameters.(*s3.ListObjectsV2Input); ok {
			if err := asks(ctx, aws.ToString(page.ContinuationToken)); err != nil {
				return middleware.InitializeOutput{}, middleware.Metadata{}, err
			}
		}
		return next.HandleInitialize(ctx, in)
	}
	raw := func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
		out, meta, err := next.HandleDeserialize(ctx, in)
		r, ok := out.RawResponse.(*smithyhttp.Response)
		if err != nil || !ok || r.StatusCode != http.StatusOK {
			return out, meta, err
		}
		server = r.Request.URL.Host
		return out, meta, opening(r.Response, aList, rootIs(root))
	}
	decoded := func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
		out, meta, err := next.HandleDeserialize(ctx, in)
		if page, ok := out.Result.(*s3.ListObjectsV2Output); ok && err == nil {
			if what := missingOf(page); what != "" {
				err = &strangeError{server, aList, what}
			}
		}
		return out, meta, err
	}
	return errors.Join(
		stack.Initialize.Add(middleware.InitializeMiddlewareFunc("pages of lists", asked), middleware.After),
		stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("root of lists", raw), middleware.After),
		stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("whole lists", decoded), middleware.Before))
}

// missingOf describes the missing part of a page of an S3 list, or returns "". KeyCount includes
// directories on most servers, but not on all.
func missingOf(page *s3.ListObjectsV2Output) string {
	objects, directories := len(page.Contents), len(page.CommonPrefixes)
	switch {
	case page.IsTruncated == nil:
		return "a list that does not say whether it is complete (IsTruncated)"
	case *page.IsTruncated && aws.ToString(page.NextContinuationToken) == "":
		return "a list that is incomplete (IsTruncated) without saying where it continues (NextContinuationToken)"
	case int(aws.ToInt32(page.KeyCount)) > objects+directories:
		return fmt.Sprintf("a list of %d entries that counts %d (KeyCount)", objects+directories, *page.KeyCount)
	}
	return ""
}

// gsLists checks the answers to Google's requests for lists.
type gsLists struct{ http.RoundTripper }

func (t gsLists) RoundTrip(r *http.Request) (*http.Response, error) {
	// .../b/BUCKET/o is a list, and .../b/BUCKET/o/NAME an object.
	at := r.URL.EscapedPath()
	if r.Method != http.MethodGet || path.Base(at) != "o" || path.Base(path.Dir(path.Dir(at))) != "b" {
		return t.RoundTripper.RoundTrip(r)
	}
	if err := asks(r.Context(), r.URL.Query().Get("pageToken")); err != nil {
		return nil, err
	}
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	if err := opening(answer, aList, kindIs); err != nil {
		return nil, err
	}
	return answer, nil
}

// azureLists checks the answers to Azure's requests for lists.
type azureLists struct{}

func (azureLists) Do(r *policy.Request) (*http.Response, error) {
	query := r.Raw().URL.Query()
	if r.Raw().Method != http.MethodGet || query.Get("comp") != "list" {
		return r.Next()
	}
	if err := asks(r.Raw().Context(), query.Get("marker")); err != nil {
		return nil, err
	}
	answer, err := r.Next()
	if err != nil || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	data, err := runtime.Payload(answer)
	if err != nil {
		return nil, err
	}
	err = opening(answer, aList, rootIs("EnumerationResults"))
	for _, element := range []string{"Blobs", "NextMarker"} {
		if err == nil && !bytes.Contains(data, []byte("<"+element)) {
			err = &strangeError{answer.Request.URL.Host, aList, "a list without <" + element + ">"}
		}
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// listing is a list that is being read. If it returned to an earlier page, it would never end, so
// that is an error. The order of names is not checked: some servers use a different one, and
// nothing depends on it.
type listing struct {
	asked, had map[string]bool // tokens of the pages requested in this try and in earlier ones
	first      string          // object of the list
}

type listingKey struct{}

var errReturns = errors.New("the store's list comes back to a page that it has had: the server, or a proxy on the way, is at fault")

// begin begins a try, and returns its context.
func (l *listing) begin(ctx context.Context) context.Context {
	l.asked = map[string]bool{}
	return context.WithValue(ctx, listingKey{}, l)
}

// asks records the request for a page in the listing of a context. It returns an error if the page
// was requested before.
func asks(ctx context.Context, token string) error {
	l, ok := ctx.Value(listingKey{}).(*listing)
	if !ok {
		return nil
	}
	if l.asked[token] || l.had[token] {
		return errReturns
	}
	l.asked[token] = true
	return nil
}

// got ends a try that got a page, or returns an error if the page begins the list again.
func (l *listing) got(page []*blob.ListObject) error {
	for i, o := range page {
		if o.IsDir { // some servers repeat a directory that spans two pages
			continue
		}
		if first := l.had == nil && i == 0; !first && o.Key == l.first && l.first != "" {
			return errReturns
		}
		if l.first == "" {
			l.first = o.Key
		}
	}
	if l.had == nil {
		l.had = map[string]bool{}
	}
	maps.Copy(l.had, l.asked)
	return nil
}
