-- Up Migration

-- Twenty refunds are the limit for what merchants and operators request. A refund that the provider has made counts
-- on: the row has to be written, whatever its number.
alter table refunds drop constraint refunds_round_check;
alter table refunds add constraint refunds_round_check check (round >= 1);

-- Down Migration

-- There is none: see 0001_payments.sql.
