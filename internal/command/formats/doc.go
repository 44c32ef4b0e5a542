// Package formats writes Examples as JSON, as text for people, and in protobuf's JSON mapping.
package formats
