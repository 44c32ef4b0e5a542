package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"

	"github.com/tfrec/tfrec/internal/build"
)

// The package of the wheel, for python -m tfrec.
var (
	//go:embed python/__init__.py
	pythonInit []byte
	//go:embed python/__main__.py
	pythonMain []byte
)

// wheelName is the name that pip reads: package, version, any Python 3, and the
// platforms.
func (p platform) wheelName() string {
	return fmt.Sprintf("tfrec-%s-py3-none-%s.whl", build.Version, p.wheel)
}

// writeWheel writes a wheel with the command among its scripts, which pip puts on the PATH, a
// package that runs it, and the license. The format is Python's for binary distributions (PEP 427):
// a zip with metadata and a list of hashes.
func (p platform) writeWheel(to string, command, license []byte) error {
	info := fmt.Sprintf("tfrec-%s.dist-info/", build.Version)
	files := []file{
		{fmt.Sprintf("tfrec-%s.data/scripts/%s", build.Version, p.executable("tfrec")), command, 0o755},
		{"tfrec/__init__.py", pythonInit, 0o644},
		{"tfrec/__main__.py", pythonMain, 0o644},
		{info + "METADATA", []byte(metadata()), 0o644},
		{info + "LICENSE", license, 0o644},
		{info + "WHEEL", []byte(fmt.Sprintf("Wheel-Version: 1.0\nGenerator: tfrec %s\nRoot-Is-Purelib: false\n%s", build.Version, p.tags())), 0o644},
	}
	return writeZip(to, append(files, file{info + "RECORD", record(files, info+"RECORD"), 0o644}))
}

// metadata returns the package's metadata, which pip shows.
func metadata() string {
	return fmt.Sprintf(`Metadata-Version: 2.1
Name: tfrec
Version: %s
Summary: Raw data into sharded, CRC-checked TFRecords, and back
License: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.8
Description-Content-Type: text/markdown

The command tfrec: converts directories of images and CSV files into sharded
TFRecords, with resizing and augmentation done once; verifies, inspects and
reshapes them. `+"`python -m tfrec`"+` runs it where the PATH does not have it.
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
func record(files []file, self string) []byte {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&b, "%s,,\n", self)
	return b.Bytes()
}
