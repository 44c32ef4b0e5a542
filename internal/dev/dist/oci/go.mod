// Images of containers: not part of anything that is built.
module github.com/tfrec/tfrec/internal/dev/dist/oci

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
	golang.org/x/sync v0.24.0 // indirect
)

require (
	github.com/google/go-containerregistry v0.22.1
	github.com/tfrec/tfrec v0.1.0
	golang.org/x/crypto/x509roots/fallback v0.0.0-20261030153154-30a33513ff6d
)

replace github.com/tfrec/tfrec => ../../../..
