// Package sample describes one record for a preview: its values as text, a small image, and a
// drawing of the objects on it.
//
//	d := sample.Describer{Set: set, Budget: 40_000, Thumbnails: thumbnails}
//	shown := d.Describe(place, record, nil)
//
// The bytes of a record flow in, a Record flows out. An image is always encoded again, so that no
// byte of the data reaches the page, and its memory is bounded by all describers together. A record
// that cannot be shown is never left out: its error gives the reason.
package sample
