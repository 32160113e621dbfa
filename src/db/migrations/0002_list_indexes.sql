-- Up Migration

-- Lists run newest first, by (created_at, id); each filter that few payments may match has an index in the same order,
-- so that a page is read off an index and never sorted, nor searched for among all payments of a merchant.
create index payments_by_status on payments (merchant_id, status, created_at desc, id desc);
create index payments_by_provider on payments (merchant_id, provider, created_at desc, id desc);
create index payments_by_merchant_reference on payments (merchant_id, merchant_reference_id, created_at desc, id desc)
  where merchant_reference_id is not null;

-- The operators' list, of all merchants: `order by created_at at time zone 'utc' desc, id desc`. An expression, lest
-- the planner seek the list of one merchant in it, who may have nothing new since years.
create index payments_of_all_newest_first on payments ((created_at at time zone 'utc') desc, id desc);

-- Down Migration

-- There is none: see 0001_payments.sql.
