#!/usr/bin/env bash
# Debian's PostgreSQL 15 with pgBackRest, for the drill of a restore. Installs only what is missing. This needs root.
set -euo pipefail

missing=()
command -v pgbackrest >/dev/null || missing+=(pgbackrest)
[ -x /usr/lib/postgresql/15/bin/postgres ] || missing+=(postgresql-15)
[ ${#missing[@]} -eq 0 ] && exit 0

# The package would start a server on port 5432.
mkdir -p /etc/postgresql-common/createcluster.d
echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/lunas-tests.conf
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install --yes --no-install-recommends "${missing[@]}" >/dev/null
