// Package cloud lets tfrec's packages take URLs of object stores wherever they take the path of an
// input or of a set to write. It is imported for its side effect:
//
//	import (
//		_ "github.com/tfrec/tfrec/cloud"
//		"github.com/tfrec/tfrec/reader"
//	)
//
//	set, err := reader.Open("s3://datasets/flowers", reader.Options{Split: "train"})
//
// The URLs are
//
//	s3://BUCKET/NAME         Amazon S3 and servers that speak its protocol
//	gs://BUCKET/NAME         Google Cloud Storage
//	azblob://CONTAINER/NAME  Azure Blob Storage
//	mem://ANY/NAME           a store in the process, for tests
//
// Names are used unchanged, without percent-encoding. [UseCache] caches objects on a local disk.
//
// # Credentials
//
// Credentials come from where each cloud's own tools take them. Without any, requests are
// anonymous, as public buckets allow.
//
//   - s3: the environment (AWS_ACCESS_KEY_ID, AWS_PROFILE, ...), the files in ~/.aws, the role of
//     the machine or container. AWS_REGION names the region; AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL
//     another server, whose URLs have the bucket in the path.
//   - gs: Google's application default credentials; STORAGE_EMULATOR_HOST names another server.
//   - azblob: AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN,
//     AZURE_STORAGE_CONNECTION_STRING, or Azure's default credentials; AZURE_STORAGE_DOMAIN and
//     AZURE_STORAGE_PROTOCOL name another server.
//
// TFREC_ANONYMOUS=1 makes requests anonymous even if there are credentials.
//
// # Settings
//
// These variables of the environment are read when a bucket is first used:
//
//   - TFREC_MIN_SPEED: bytes a second below which, for 30 s, a body is requested or sent again. 0
//     allows any speed. Default: 1024.
//   - TFREC_TIMEOUT: how long a server may send or accept nothing, such as 2m; at least 1s. Default:
//     30s.
//   - TFREC_HEDGE: when a second request is made for a range that is not answered: p95, after the
//     time in which 95 of 100 answers begin, or a duration such as 200ms. Default: off.
//   - TFREC_MAX_REQUESTS: the maximum number of small requests, such as those for images, in flight
//     to a store, 1 to 4096. The number in use adapts to the store. Default: 256.
package cloud
