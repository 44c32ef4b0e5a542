package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/tfrec/tfrec/internal/build"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nobody is the user of the images: not root, and by convention without an account.
const nobody = "65532:65532"

// epoch is the time of everything in an image: the same sources give the same bytes.
var epoch = time.Unix(0, 0).UTC()

// entry is a file or a directory of a layer; data is nil for a directory.
type entry struct {
	name string
	mode int64
	data []byte
}

// layers are the files of a command's image. What changes with a version is in the last one.
func (c command) layers(binary []byte) [][]entry {
	return [][]entry{base(), {{c.name, 0o755, binary}}}
}

// image returns the image of a command.
func (c command) image(binary []byte, p v1.Platform) (v1.Image, error) {
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	for _, entries := range c.layers(binary) {
		l, err := layer(entries)
		if err != nil {
			return nil, err
		}
		if image, err = mutate.AppendLayers(image, l); err != nil {
			return nil, err
		}
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = p.OS, p.Architecture, v1.Time{Time: epoch}
	for i := range file.History {
		file.History[i].Created = file.Created
	}
	file.Config = v1.Config{
		User:       nobody,
		WorkingDir: "/data",
		Entrypoint: []string{"/" + c.name},
		Cmd:        []string{"--help"},
		Env:        []string{"PATH=/", "HOME=/tmp"},
		Labels: map[string]string{
			"org.opencontainers.image.title":         c.title,
			"org.opencontainers.image.version":       build.Version,
			"org.opencontainers.image.documentation": "https://github.com/tfrec/tfrec",
			"org.opencontainers.image.source":        "https://github.com/tfrec/tfrec",
			"org.opencontainers.image.licenses":      "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, file)
}

// base returns the files that all commands need. Go's TLS and other programs look for the roots at
// that path, so that a deployment can mount its own.
func base() []entry {
	return []entry{
		{"data/", 0o755, nil},
		{"etc/", 0o755, nil},
		{"etc/passwd", 0o644, []byte("nobody:x:65532:65532:nobody:/tmp:/none\n")},
		{"etc/ssl/", 0o755, nil},
		{"etc/ssl/certs/", 0o755, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, certificates()},
		{"tmp/", 0o1777, nil},
	}
}

// certificates are Mozilla's roots, as PEM. Those that are trusted under conditions alone, which PEM
// cannot say, are left out.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory
		}
	}
	return b.Bytes()
}

// layer packs entries, which belong to root.
func layer(entries []entry) (v1.Layer, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: epoch, Format: tar.FormatPAX}
		if e.data == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
}
