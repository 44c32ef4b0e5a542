package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tfrec/tfrec/internal/build"
)

// wheelName is the name that pip reads: the package, its version, and that it
// hangs on no Python but on a platform.
func (p platform) wheelName() string {
	return fmt.Sprintf("tfrec-%s-py3-none-%s.whl", build.Version, p.wheel)
}

// wheelFile is a file in a wheel.
type wheelFile struct {
	name string
	data []byte
	mode os.FileMode
}

// writeWheel writes a wheel with the binary among its scripts, which pip puts on
// the PATH, and the license. The format is that of Python's binary distributions (PEP 427): a zip
// with metadata and a list of hashes. No times are in it.
func (p platform) writeWheel(to, binary string, license []byte) error {
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	name := "tfrec"
	if p.os == "windows" {
		name += ".exe"
	}
	info := fmt.Sprintf("tfrec-%s.dist-info/", build.Version)
	files := []wheelFile{
		{fmt.Sprintf("tfrec-%s.data/scripts/%s", build.Version, name), data, 0o755},
		{info + "METADATA", []byte(metadata()), 0o644},
		{info + "LICENSE", license, 0o644},
		{info + "WHEEL", []byte(fmt.Sprintf("Wheel-Version: 1.0\nGenerator: tfrec %s\nRoot-Is-Purelib: false\n%s", build.Version, p.tags())), 0o644},
	}
	files = append(files, wheelFile{info + "RECORD", record(files, info+"RECORD"), 0o644})
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o644)
}

// metadata is what pip shows of the package.
func metadata() string {
	return fmt.Sprintf(`Metadata-Version: 2.1
Name: tfrec
Version: %s
Summary: Raw data into sharded, CRC-checked TFRecords, and back
License: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.7
Description-Content-Type: text/markdown

The command tfrec: folders of pictures and CSV files into sharded TFRecords with
resizes and augmentations computed once; verifying, inspecting and reshaping them.
`, build.Version)
}

// tags lists each platform of the wheel's name on a line of its own.
func (p platform) tags() string {
	var b bytes.Buffer
	for tag := range bytes.SplitSeq([]byte(p.wheel), []byte(".")) {
		fmt.Fprintf(&b, "Tag: py3-none-%s\n", tag)
	}
	return b.String()
}

// record lists the files with their hashes, itself without one.
func record(files []wheelFile, self string) []byte {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&b, "%s,,\n", self)
	return b.Bytes()
}
