-- Up Migration

set local role lunas_owner;

-- When autovacuum cleans the tables that grow (docs/data-model.md, "Vacuum"). By default it waits until a fifth of a
-- table has changed: a million rows of five million. Here it waits for a fiftieth and 1,000 rows.

-- Rows are updated three or four times within a day, or deleted by retention.
alter table payments set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000);
alter table webhook_deliveries set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000);
alter table provider_notifications set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000);

-- Rows are only added, and deleted by retention or the archive. Vacuum freezes the new pages and marks them as all
-- visible soon after they are written, while they are in memory, and not all together years later.
alter table payment_transitions set (autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table ledger_postings set (autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table ledger_entries set (autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table webhook_events set (autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table webhook_attempts set (autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Down Migration

-- There is none: see 0001_payments.sql.
