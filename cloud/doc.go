// Package cloud lets tfrec's packages take URLs of object stores wherever they take the path of an
// input, or of a set that is written: s3://BUCKET/NAME (Amazon S3 and servers that speak its
// protocol), gs://BUCKET/NAME (Google Cloud Storage), azblob://CONTAINER/NAME (Azure Blob Storage)
// and, for tests, mem://ANY/NAME. It is imported for its effect:
//
//	import _ "github.com/tfrec/tfrec/cloud"
//
// Names are taken as they are, without percent-encoding. Credentials come from
// where each cloud's own tools take them, and where there are none, requests are
// anonymous, as public buckets allow:
//
//   - s3: the environment (AWS_ACCESS_KEY_ID, AWS_PROFILE, ...), the files in
//     ~/.aws, the machine's or container's role. AWS_REGION names the region;
//     AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL another server, whose URLs have
//     the bucket in the path.
//   - gs: Google's application default credentials; STORAGE_EMULATOR_HOST names
//     another server.
//   - azblob: AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN,
//     AZURE_STORAGE_CONNECTION_STRING, or Azure's default credentials;
//     AZURE_STORAGE_DOMAIN, AZURE_STORAGE_PROTOCOL name another server.
//
// TFREC_ANONYMOUS=1 has requests anonymous though there are credentials.
package cloud
