// Package options defines the options of a conversion of images: their defaults, the combinations
// that are not allowed, and the values that follow from them alone.
package options
