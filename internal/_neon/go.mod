module github.com/tfrec/tfrec/internal/_neon

go 1.26.0
