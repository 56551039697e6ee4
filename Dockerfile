# The command in an image of nothing else: docker build -t cgc . && docker run --rm -v "$PWD:/work" cgc run
#
# Graphs are looked for in the volume /data (CGC_DATA), which also keeps what is fetched. Results go to /work. Mount a
# folder there that user 65532 may write to, or choose another user: docker run --user "$(id -u):$(id -g)" ….
#
# It was built and run by buildah, with Debian and the same Go in place of the first base image.
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
# .git is copied too, so that the command names its commit.
RUN go generate ./cmd/cgc/internal/web && CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/cgc ./cmd/cgc \
 && mkdir -p /out/data /out/work /out/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/cgc /cgc
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build --chown=65532:65532 /out/work /work
COPY --from=build --chown=65532:65532 /out/tmp /tmp
ENV CGC_DATA=/data XDG_CACHE_HOME=/data/cache XDG_CONFIG_HOME=/data/config
VOLUME /data
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/cgc"]
CMD ["--help"]
