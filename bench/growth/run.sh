#!/usr/bin/env bash
# Compares the schemes of docs/decisions/0013-growth.md: payments a second, beside PAYMENTS payments (2,000,000).
# Needs psql and pgbench, and DATABASE_URL of an empty database that `lunas migrate` has migrated.
set -euo pipefail
cd "$(dirname "$0")"
payments=${PAYMENTS:-2000000}
psql --quiet --set=payments="$payments" --set=ON_ERROR_STOP=1 --file=fill.sql "$DATABASE_URL" > /dev/null
psql --tuples-only --no-align --field-separator=' ' "$DATABASE_URL" <<'SQL'
select scheme, pg_size_pretty(sum(pg_total_relation_size(oid)))
from pg_class, unnest(array['plain', 'hash', 'day']) scheme
where relname like scheme || '\_%' and relkind = 'r' group by scheme order by scheme
SQL
# A statement on hash partitions is the one on plain tables. One on days finds its partition first.
script_of() {
  if [ "$1" = hash ]; then sed 's/plain_/hash_/g' plain.pgbench; else cat "$1.pgbench"; fi
}
for scheme in plain hash day day hash plain plain hash day day hash plain; do
  rate=$(pgbench --no-vacuum --protocol=prepared --client=8 --jobs=2 --time="${SECONDS_EACH:-20}" \
    --define=payments="$payments" --file=<(script_of "$scheme") "$DATABASE_URL" 2> /dev/null |
    sed -n 's/^tps = \([0-9]*\).*/\1/p')
  echo "$scheme: $rate payments/s"
done
