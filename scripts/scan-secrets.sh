#!/usr/bin/env bash
# `npm run secrets [-- DIRECTORY]`: gitleaks searches the history of a git repository (default: this one) for secrets.
# The first run builds gitleaks, which needs Go, and keeps it in the cache of Lunas. Rules: .gitleaks.toml.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"

version=8.30.1
gitleaks="${XDG_CACHE_HOME:-$HOME/.cache}/lunas/gitleaks-$version/gitleaks"
if [ ! -x "$gitleaks" ]; then
  echo "Building gitleaks $version …" >&2
  GOBIN="$(dirname "$gitleaks")" go install "github.com/zricethezav/gitleaks/v8@v$version"
fi
exec "$gitleaks" git --no-banner --redact --verbose --config "$root/.gitleaks.toml" "${1:-$root}"
