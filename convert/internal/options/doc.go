// Package options says what can be asked of a conversion of images: the options with their defaults,
// what they may not be together, and what follows from them alone.
package options
