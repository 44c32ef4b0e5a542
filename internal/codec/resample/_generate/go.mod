module github.com/tfrec/tfrec/internal/codec/resample/_generate

go 1.26.0

require github.com/mmcloughlin/avo v0.6.0

require (
	github.com/tfrec/tfrec/internal/codec/_neon v0.0.0
	golang.org/x/mod v0.29.0 // indirect
	golang.org/x/sync v0.17.0 // indirect
	golang.org/x/tools v0.38.0 // indirect
)

replace github.com/tfrec/tfrec/internal/codec/_neon => ../../_neon
