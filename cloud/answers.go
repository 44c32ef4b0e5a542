package cloud

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// The libraries accept any answer of status 200 as the store's: they take a page of HTML, as of a
// captive portal, for an object's contents or for the confirmation of a write or removal. So the
// required properties of each kind of answer are checked below the libraries, in lists.go for
// lists.

// strangeError means that an answer is incomplete or does not come from a store. A retry may help.
type strangeError struct {
	server string // the expected answer
	asked  string // the answer
	what   string // what came
}

func (e *strangeError) Error() string {
	return fmt.Sprintf("the server at %s was asked for %s, and answered with %s: a proxy on the way, or the server, is at fault", e.server, e.asked, e.what)
}

// lacks returns an error for an answer without a required property, and closes its body.
func lacks(r *http.Response, asked, what string) error {
	r.Body.Close()
	return &strangeError{r.Request.URL.Host, asked, fmt.Sprintf("status %d (%s) without %s", r.StatusCode, statedType(r.Header), what)}
}

// hasVersion checks the answer to a request for an object or its properties. Servers without ETags
// state the time of a file.
func hasVersion(r *http.Response) error {
	if r.Header.Get("ETag") == "" && r.Header.Get("Last-Modified") == "" {
		return lacks(r, "an object", "an ETag or a time (Last-Modified)")
	}
	return nil
}

// hasTag checks the answer to a request that stores something.
func hasTag(r *http.Response) error {
	if r.Header.Get("ETag") == "" {
		return lacks(r, "an object to be stored", "an ETag")
	}
	return nil
}

// isEmpty checks the answer to a request that removes something.
func isEmpty(r *http.Response) error {
	if r.StatusCode != http.StatusNoContent && r.ContentLength != 0 {
		return lacks(r, "an object to be removed", "the status 204")
	}
	return nil
}

// beginsWith returns what checks that an answer is XML with a root element, or S3's error, which the
// library looks for.
func beginsWith(root string) func(*http.Response) error {
	return func(r *http.Response) error { return opening(r, "an upload in parts", rootIs(root, "Error")) }
}

// s3Checks are what answers of status 2xx must have, by the operation.
var s3Checks = map[string]func(*http.Response) error{
	"GetObject": hasVersion, "HeadObject": hasVersion, "PutObject": hasTag, "UploadPart": hasTag, "DeleteObject": isEmpty, "AbortMultipartUpload": isEmpty,
	"CreateMultipartUpload": beginsWith("InitiateMultipartUploadResult"), "CompleteMultipartUpload": beginsWith("CompleteMultipartUploadResult"),
}

// s3Answers checks S3's answers.
func s3Answers(stack *middleware.Stack) error {
	check := s3Checks[stack.ID()]
	if check == nil {
		return nil
	}
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("answers of a store", func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
		out, meta, err := next.HandleDeserialize(ctx, in)
		if r, ok := out.RawResponse.(*smithyhttp.Response); ok && err == nil && r.StatusCode/100 == 2 {
			err = check(r.Response)
		}
		return out, meta, err
	}), middleware.After)
}

// gsAnswers checks Google's answers, except for JSON, which a page of HTML cannot be mistaken for.
type gsAnswers struct{ http.RoundTripper }

func (t gsAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode/100 != 2 {
		return answer, err
	}
	described := strings.HasPrefix(r.URL.Path, "/storage/v1/") && r.URL.Query().Get("alt") != "media"
	switch {
	case r.Method == http.MethodDelete:
		err = isEmpty(answer)
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && !described && answer.Header.Get("X-Goog-Generation") == "":
		err = lacks(answer, "an object", "a generation")
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// azureAnswers checks Azure's answers to requests for objects; the library holds all others to a
// status that is not 200.
type azureAnswers struct{}

func (azureAnswers) Do(r *policy.Request) (*http.Response, error) {
	answer, err := r.Next()
	reads := r.Raw().Method == http.MethodGet || r.Raw().Method == http.MethodHead
	if err != nil || !reads || answer.StatusCode/100 != 2 || r.Raw().URL.Query().Has("comp") {
		return answer, err
	}
	if err := hasVersion(answer); err != nil {
		return nil, err
	}
	return answer, nil
}
