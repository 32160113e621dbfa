-- Up Migration

set local role lunas_owner;

-- Of the checkout page. Null: it has no link back to the shop.
alter table merchants
  add column if not exists return_url text,
  -- The origins whose pages may show the checkout page in a frame.
  add column if not exists checkout_origins text[] not null default '{}';

grant update (return_url, checkout_origins) on merchants to lunas_operator;

-- Down Migration

-- There is none: see 0001_payments.sql.
