package cloud

import (
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/tfrec/tfrec/internal/storage"
)

// idleConnections is how many connections to a server are kept for the next requests: as many as are
// under way at a time, small requests and those for parts. The libraries keep 2 or 10, and would open
// the others again for each request.
func idleConnections() int { return storage.MostRequests() + 64 }

func keepConnections(t *http.Transport) {
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 4*idleConnections(), idleConnections()
}

// s3Client is what requests to S3 go through.
func s3Client() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(keepConnections)
}

// ownTransport is what requests to Google and Azure go through.
func ownTransport() http.RoundTripper {
	shared, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // somebody has put another one there
		return http.DefaultTransport
	}
	own := shared.Clone()
	keepConnections(own)
	return own
}
