# One image for every process: `lunas api`, `lunas worker`, `lunas migrate`, `lunas sandbox`.
FROM node:20-bookworm-slim AS build
WORKDIR /lunas
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev --omit=optional

FROM node:20-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /lunas
COPY --from=build /lunas/package.json ./
COPY --from=build /lunas/node_modules ./node_modules
COPY --from=build /lunas/dist ./dist
COPY --from=build /lunas/src/db/migrations ./src/db/migrations
RUN ln -s /lunas/dist/src/cli/lunas.js /usr/local/bin/lunas
USER node
ENTRYPOINT ["lunas"]
CMD ["api"]
