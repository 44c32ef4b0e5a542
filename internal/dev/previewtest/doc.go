// Package previewtest has what the tests of previews share: records of images, and files of them.
package previewtest
