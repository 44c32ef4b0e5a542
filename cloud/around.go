package cloud

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// askAround makes the store answer a request, not a cache on the way, if bytes arrived damaged
// before. Signatures do not cover these headers.
func askAround(ctx context.Context, h http.Header) {
	if storage.AroundCaches(ctx) {
		h.Set("Cache-Control", "no-cache")
		h.Set("Pragma", "no-cache") // for proxies of HTTP/1.0
	}
}

// s3Around does the same for S3, after requests have been signed.
func s3Around(stack *middleware.Stack) error {
	return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("tfrecAround", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		if r, ok := in.Request.(*smithyhttp.Request); ok {
			askAround(ctx, r.Header)
		}
		return next.HandleFinalize(ctx, in)
	}), middleware.After)
}

// gsAround does the same for Google.
type gsAround struct{ http.RoundTripper }

func (t gsAround) RoundTrip(r *http.Request) (*http.Response, error) {
	if storage.AroundCaches(r.Context()) {
		r = r.Clone(r.Context()) // a RoundTripper must not change it
		askAround(r.Context(), r.Header)
	}
	return t.RoundTripper.RoundTrip(r)
}

// azureAround does the same for Azure.
type azureAround struct{}

func (azureAround) Do(r *policy.Request) (*http.Response, error) {
	askAround(r.Raw().Context(), r.Raw().Header)
	return r.Next()
}
