// Package previewtest has the helpers that the tests of previews share: records with images, and
// files of them.
package previewtest
