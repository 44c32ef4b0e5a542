module github.com/tfrec/tfrec/internal/codec/_neon

go 1.26.0
