# tfrec with object storage in an image, with roots of certificates: static, without root, a shell
# or anything else. `make oci` makes such an image without Docker.
#
#   docker build -t tfrec .
#   docker run --rm -u "$(id -u)" -v "$PWD:/data" -w /data tfrec convert images photos out --resize 224
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -C cloud -trimpath -buildvcs=false -tags static -ldflags "-s -w" -o /tfrec ./cmd/tfrec

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /tfrec /tfrec
USER 65532:65532
ENTRYPOINT ["/tfrec"]
