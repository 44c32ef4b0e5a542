# tfrec alone in an image: static, without root, a shell or anything else.
#
#   docker build -t tfrec .
#   docker run --rm -u "$(id -u)" -v "$PWD:/data" -w /data tfrec convert images photos out --resize 224
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags static -ldflags "-s -w" -o /tfrec ./cmd/tfrec

FROM scratch
COPY --from=build /tfrec /tfrec
USER 65532:65532
ENTRYPOINT ["/tfrec"]
