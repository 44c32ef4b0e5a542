// Package webdataset groups the members of archives into the samples of a WebDataset: members whose
// names differ only in their extensions are one sample, with an image, a label and other parts.
//
// The walker of archives adds the members that are not images to [Samples], which then groups images.
package webdataset
