-- Up Migration

set local role lunas_owner;

-- A redelivery locks the endpoints, which needs the right to change a column.
grant update (claim_number) on webhook_endpoints to lunas_api;

-- Down Migration

-- There is none: see 0001_payments.sql.
