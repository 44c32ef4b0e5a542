package cloud

import (
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// idleConnections returns the number of connections to a server to keep for reuse: as many as may
// be active at a time, for small requests and for parts. The libraries keep 2 or 10, and would open
// the others again for each request.
func idleConnections() int { return storage.MostRequests() + 64 }

func keepConnections(t *http.Transport) {
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 4*idleConnections(), idleConnections()
}

// s3Client returns the client for requests to S3.
func s3Client() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(keepConnections)
}

// ownTransport returns the transport for requests to Google and Azure.
func ownTransport() http.RoundTripper {
	shared, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // the program has replaced it
		return http.DefaultTransport
	}
	own := shared.Clone()
	keepConnections(own)
	return own
}
