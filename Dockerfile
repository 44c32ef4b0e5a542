# tfrec with object storage in an image: the files and settings of that which `make oci` makes without
# Docker. Static, with roots of certificates; without root, a shell or anything else.
#
#   docker build -t tfrec .
#   docker run --rm -u "$(id -u)" -v "$PWD:/data" tfrec convert images photos out --resize 224
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN cd internal/dev/dist/oci && go run . -rootfs /rootfs

FROM scratch
COPY --from=build /rootfs/ /
USER 65532:65532
WORKDIR /data
ENV PATH=/ HOME=/tmp
ENTRYPOINT ["/tfrec"]
CMD ["--help"]
