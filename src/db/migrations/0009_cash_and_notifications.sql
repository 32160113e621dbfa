-- Up Migration

-- A refund that an operator made by another way than the provider's, such as a bank transfer, is paid from our own
-- bank account.
alter table ledger_entries
  drop constraint ledger_entries_account_check,
  add constraint ledger_entries_account_check check (account in ('provider_receivable', 'merchant_pending',
    'merchant_available', 'fee_revenue', 'suspense', 'cash'));
alter table ledger_postings
  drop constraint ledger_postings_late_step_check,
  add constraint ledger_postings_late_step_check check (late_step in ('receive', 'refund', 'refund_manually'));

-- What a notification reports. A transition closes only what its new status reflects; null is left to a status query.
alter table provider_notifications add column reported_status text
  check (reported_status in ('pending', 'paid', 'expired', 'cancelled', 'denied', 'refunded'));

-- Down Migration

-- There is none: see 0001_payments.sql.
