#!/usr/bin/env bash
# Debian packages that the slow tests need: libfaketime for wrong clocks, mount for a full disk, ps to find processes,
# nginx before API processes that are restarted, PgBouncer before PostgreSQL, Prometheus with its promtool, bubblewrap
# and debootstrap for the image, Chromium's headless shell and zbarimg for pages, PHP for the examples and for the
# plugin for WooCommerce, whose style PHP_CodeSniffer checks, psql for the pages of the alerts.
# Installs only what is missing. This needs root.
set -euo pipefail

missing=()
compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || missing+=(libfaketime)
command -v mount >/dev/null || missing+=(mount)
command -v promtool >/dev/null || missing+=(prometheus)
command -v ps >/dev/null || missing+=(procps)
command -v nginx >/dev/null || missing+=(nginx-light)
[ -x /usr/sbin/pgbouncer ] || missing+=(pgbouncer)
command -v bwrap >/dev/null || missing+=(bubblewrap)
command -v debootstrap >/dev/null || missing+=(debootstrap)
command -v chromium-headless-shell >/dev/null || missing+=(chromium-headless-shell)
command -v php >/dev/null || missing+=(php-cli)
command -v phpcs >/dev/null || missing+=(php-codesniffer)
command -v psql >/dev/null || missing+=(postgresql-client)
command -v zbarimg >/dev/null || missing+=(zbar-tools)
[ ${#missing[@]} -eq 0 ] && exit 0

export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install --yes --no-install-recommends "${missing[@]}" >/dev/null
