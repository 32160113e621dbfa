-- Generated from the sources and compared in a test: do not edit. UPDATE_SQL=1 writes it.

-- transition_create
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 referenceId
--   $8 merchantId, $9 merchantReferenceId, $10 idempotencyKey, $11 fingerprint, $12 paymentMethod
--   $13 provider, $14 providerAccountId, $15 amountRupiah, $16 feeRupiah, $17 totalRupiah, $18 netRupiah
--   $19 feePayer, $20 feeTerms, $21 vatRupiah, $22 policyId, $23 settlementKind
--   $24 settlementDelaySeconds, $25 expiresAt, $26 createdAt
with changed as (
  insert into payments (
    id,
    reference_id,
    merchant_id,
    merchant_reference_id,
    idempotency_key,
    fingerprint,
    payment_method,
    provider,
    provider_account_id,
    amount_rupiah,
    fee_rupiah,
    total_rupiah,
    net_rupiah,
    fee_payer,
    fee_terms,
    vat_rupiah,
    policy_id,
    settlement_kind,
    settlement_delay_seconds,
    expires_at, created_at, updated_at, status, version
  )
  select
    $6,
    $7,
    $8,
    $9,
    $10,
    $11,
    $12,
    $13,
    $14,
    $15,
    $16,
    $17,
    $18,
    $19,
    $20,
    $21,
    $22,
    $23,
    $24,
    $25, $26, $26, 'created', 1
  where not exists (select from archived_payments where payment_id = $6)
  on conflict (id) do nothing
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'create', null, status, updated_at, $1, $2, $4, $5 from changed
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.created', (select row_to_json(body)::text from (
    select changed.id, 'payment.created' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.created') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed;

-- transition_issue
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 qrisPayload, $10 providerTransactionId
with changed as (
  update payments set status = 'pending',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond'),
    qris_payload = $9,
    provider_transaction_id = $10
  where id = $6 and version = $7 and status = 'created'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'issue', 'created', status, updated_at, $1, $2, $4, $5 from changed
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.pending', (select row_to_json(body)::text from (
    select changed.id, 'payment.pending' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.pending') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed;

-- transition_fail_creation
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 reason
with changed as (
  update payments set status = 'failed',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond'),
    failure_reason = $9
  where id = $6 and version = $7 and status = 'created'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'fail_creation', 'created', status, updated_at, $1, $2, $4, $5 from changed
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.failed', (select row_to_json(body)::text from (
    select changed.id, 'payment.failed' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.failed') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed;

-- transition_pay
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 paidAt
with changed as (
  update payments set status = 'paid',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond'),
    paid_at = greatest($9::timestamptz, created_at),
    settlement_due_at = $8::timestamptz + settlement_delay_seconds * interval '1 second'
  where id = $6 and version = $7 and status = 'pending'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'pay', 'pending', status, updated_at, $1, $2, $4, $5 from changed
),
posting as (
  insert into ledger_postings (payment_id, payment_version, merchant_id, occurred_at)
  select id, version, merchant_id, updated_at from changed
  returning id
),
entries as (
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting.id, line.number, line.account, line.side, line.amount_rupiah
  from posting, changed, lateral (values
    (1, 'provider_receivable', 'debit', changed.total_rupiah),
    (2, 'merchant_pending', 'credit', changed.net_rupiah),
    (3, 'fee_revenue', 'credit', changed.fee_rupiah - changed.vat_rupiah),
    (4, 'vat_payable', 'credit', changed.vat_rupiah)
  ) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
),
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in ('pending', 'paid')
  returning provider_notifications.reported_status, provider_notifications.notify_attempts
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.paid', (select row_to_json(body)::text from (
    select changed.id, 'payment.paid' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.paid') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  case (select min(notify_attempts) > 0 from notifications where reported_status = changed.status)
    when false then 'notification'
    when true then 'sweeper'
    else case when $8::timestamptz >= changed.expires_at then 'expiry' else 'query' end
  end as "confirmedBy",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed;

-- transition_expire
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
with changed as (
  update payments set status = 'expired',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
  where id = $6 and version = $7 and status = 'pending'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'expire', 'pending', status, updated_at, $1, $2, $4, $5 from changed
),
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in ('pending', 'expired')
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.expired', (select row_to_json(body)::text from (
    select changed.id, 'payment.expired' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.expired') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed;

-- transition_cancel
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
with changed as (
  update payments set status = 'cancelled',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond'),
    cancelled_at = $8
  where id = $6 and version = $7 and status = 'pending'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'cancel', 'pending', status, updated_at, $1, $2, $4, $5 from changed
),
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in ('pending', 'cancelled')
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.cancelled', (select row_to_json(body)::text from (
    select changed.id, 'payment.cancelled' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.cancelled') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed;

-- transition_fail
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 reason
with changed as (
  update payments set status = 'failed',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond'),
    failure_reason = $9
  where id = $6 and version = $7 and status = 'pending'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'fail', 'pending', status, updated_at, $1, $2, $4, $5 from changed
),
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in ('pending', 'denied')
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.failed', (select row_to_json(body)::text from (
    select changed.id, 'payment.failed' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.failed') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed;

-- transition_request_refund
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 refundNumber, $10 refundKey, $11 holdSeconds, $12 requestedBy
with changed as (
  update payments set status = 'refund_processing',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
  where id = $6 and version = $7 and status = 'paid'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'request_refund', 'paid', status, updated_at, $1, $2, $4, $5 from changed
),
refund as (
  insert into refunds
    (payment_id, number, refund_key, amount_rupiah, status, requested_at, submit_at, requested_by)
  select id, $9, $10, total_rupiah, 'held', updated_at,
    $8::timestamptz + $11 * interval '1 second', $12
  from changed
  returning refunds.number, refunds.submit_at, refunds.status
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.refund_processing', (select row_to_json(body)::text from (
    select changed.id, 'payment.refund_processing' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.refund_processing') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed left join refund on true;

-- transition_submit_refund
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 refundNumber
with changed as (
  update payments set status = 'refund_processing',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
  where id = $6 and version = $7 and status = 'refund_processing'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'submit_refund', 'refund_processing', status, updated_at, $1, $2, $4, $5 from changed
),
refund as (
  update refunds set status = 'submitted', submitted_at = changed.updated_at
  from changed where refunds.payment_id = changed.id and refunds.number = $9
  returning refunds.number, refunds.submit_at, refunds.status
),
deliveries as (select null as status where $3::text is null)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed left join refund on true;

-- transition_cancel_refund
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 refundNumber
with changed as (
  update payments set status = 'paid',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
  where id = $6 and version = $7 and status = 'refund_processing'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'cancel_refund', 'refund_processing', status, updated_at, $1, $2, $4, $5 from changed
),
refund as (
  update refunds set status = 'cancelled', finished_at = changed.updated_at
  from changed where refunds.payment_id = changed.id and refunds.number = $9
  returning refunds.number, refunds.submit_at, refunds.status
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.paid', (select row_to_json(body)::text from (
    select changed.id, 'payment.paid' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.paid') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed left join refund on true;

-- transition_confirm_refund
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 refundNumber, $10 providerReference
with changed as (
  update payments set status = 'refunded',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
  where id = $6 and version = $7 and status = 'refund_processing'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'confirm_refund', 'refund_processing', status, updated_at, $1, $2, $4, $5 from changed
),
posting as (
  insert into ledger_postings (payment_id, payment_version, merchant_id, occurred_at)
  select id, version, merchant_id, updated_at from changed
  returning id
),
entries as (
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting.id, line.number, line.account, line.side, line.amount_rupiah
  from posting, changed, lateral (values
    (1, 'merchant_pending', 'debit', changed.net_rupiah),
    (2, 'merchant_available', 'debit', changed.fee_rupiah),
    (3, 'provider_receivable', 'credit', changed.total_rupiah)
  ) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
),
refund as (
  update refunds set status = 'confirmed', finished_at = changed.updated_at, provider_reference = $10
  from changed where refunds.payment_id = changed.id and refunds.number = $9
  returning refunds.number, refunds.submit_at, refunds.status
),
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in ('pending', 'paid', 'refunded')
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.refunded', (select row_to_json(body)::text from (
    select changed.id, 'payment.refunded' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.refunded') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed left join refund on true;

-- transition_fail_refund
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 refundNumber, $10 reason
with changed as (
  update payments set status = 'refund_failed',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
  where id = $6 and version = $7 and status = 'refund_processing'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'fail_refund', 'refund_processing', status, updated_at, $1, $2, $4, $5 from changed
),
refund as (
  update refunds set status = 'rejected', finished_at = changed.updated_at, failure_reason = $10
  from changed where refunds.payment_id = changed.id and refunds.number = $9
  returning refunds.number, refunds.submit_at, refunds.status
),
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in ('pending', 'paid')
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.refund_failed', (select row_to_json(body)::text from (
    select changed.id, 'payment.refund_failed' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.refund_failed') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed left join refund on true;

-- transition_retry_refund
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 refundNumber, $10 refundKey, $11 holdSeconds, $12 requestedBy
with changed as (
  update payments set status = 'refund_processing',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
  where id = $6 and version = $7 and status = 'refund_failed'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'retry_refund', 'refund_failed', status, updated_at, $1, $2, $4, $5 from changed
),
refund as (
  insert into refunds
    (payment_id, number, refund_key, amount_rupiah, status, requested_at, submit_at, requested_by)
  select id, $9, $10, total_rupiah, 'held', updated_at,
    $8::timestamptz + $11 * interval '1 second', $12
  from changed
  returning refunds.number, refunds.submit_at, refunds.status
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.refund_processing', (select row_to_json(body)::text from (
    select changed.id, 'payment.refund_processing' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.refund_processing') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed left join refund on true;

-- transition_confirm_failed_refund
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 refundNumber, $10 providerReference
with changed as (
  update payments set status = 'refunded',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
  where id = $6 and version = $7 and status = 'refund_failed'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'confirm_failed_refund', 'refund_failed', status, updated_at, $1, $2, $4, $5 from changed
),
posting as (
  insert into ledger_postings (payment_id, payment_version, merchant_id, occurred_at)
  select id, version, merchant_id, updated_at from changed
  returning id
),
entries as (
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting.id, line.number, line.account, line.side, line.amount_rupiah
  from posting, changed, lateral (values
    (1, 'merchant_pending', 'debit', changed.net_rupiah),
    (2, 'merchant_available', 'debit', changed.fee_rupiah),
    (3, 'provider_receivable', 'credit', changed.total_rupiah)
  ) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
),
refund as (
  update refunds set status = 'confirmed', finished_at = changed.updated_at, provider_reference = $10
  from changed where refunds.payment_id = changed.id and refunds.number = $9
  returning refunds.number, refunds.submit_at, refunds.status
),
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in ('pending', 'paid', 'refunded')
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.refunded', (select row_to_json(body)::text from (
    select changed.id, 'payment.refunded' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.refunded') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed left join refund on true;

-- transition_resolve_refund_as_refunded
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
--   $9 refundNumber
with changed as (
  update payments set status = 'refunded',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
  where id = $6 and version = $7 and status = 'refund_failed'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'resolve_refund_as_refunded', 'refund_failed', status, updated_at, $1, $2, $4, $5 from changed
),
posting as (
  insert into ledger_postings (payment_id, payment_version, merchant_id, occurred_at)
  select id, version, merchant_id, updated_at from changed
  returning id
),
entries as (
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting.id, line.number, line.account, line.side, line.amount_rupiah
  from posting, changed, lateral (values
    (1, 'merchant_pending', 'debit', changed.net_rupiah),
    (2, 'merchant_available', 'debit', changed.fee_rupiah),
    (3, 'cash', 'credit', changed.total_rupiah)
  ) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
),
refund as (
  update refunds set status = 'confirmed', finished_at = changed.updated_at, is_manual = true
  from changed where refunds.payment_id = changed.id and refunds.number = $9
  returning refunds.number, refunds.submit_at, refunds.status
),
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in ('pending', 'paid')
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.refunded', (select row_to_json(body)::text from (
    select changed.id, 'payment.refunded' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.refunded') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed left join refund on true;

-- transition_resolve_refund_as_paid
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
with changed as (
  update payments set status = 'paid',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
  where id = $6 and version = $7 and status = 'refund_failed'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'resolve_refund_as_paid', 'refund_failed', status, updated_at, $1, $2, $4, $5 from changed
),
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in ('pending', 'paid')
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.paid', (select row_to_json(body)::text from (
    select changed.id, 'payment.paid' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.paid') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed;

-- transition_settle
--   $1 actor, $2 note, $3 environment, $4 requestId, $5 traceparent, $6 paymentId, $7 version, $8 at
with changed as (
  update payments set status = 'settled',
    version = version + 1,
    updated_at = greatest($8::timestamptz, updated_at + interval '1 millisecond')
  where id = $6 and version = $7 and status = 'paid'
  returning *
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, 'settle', 'paid', status, updated_at, $1, $2, $4, $5 from changed
),
posting as (
  insert into ledger_postings (payment_id, payment_version, merchant_id, occurred_at)
  select id, version, merchant_id, updated_at from changed
  returning id
),
entries as (
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting.id, line.number, line.account, line.side, line.amount_rupiah
  from posting, changed, lateral (values
    (1, 'merchant_pending', 'debit', changed.net_rupiah),
    (2, 'merchant_available', 'credit', changed.net_rupiah)
  ) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
),
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, 'payment.settled', (select row_to_json(body)::text from (
    select changed.id, 'payment.settled' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, $3::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, 'payment.settled') delivery
  returning status
)
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed;

-- record_late_payment
--   $1 paymentId, $2 totalRupiah, $3 providerTransactionId, $4 paidAt, $5 at, $6 refundKey
with changed as (
  insert into late_payments
    (payment_id, merchant_id, total_rupiah, provider_transaction_id, paid_at, status, received_at, refund_key)
  select id, merchant_id, $2, $3, $4, 'received', $5, $6 from payments
  where id = $1 and status in ('expired', 'failed', 'cancelled')
  on conflict (payment_id) do nothing
  returning *
),
posting as (
  insert into ledger_postings (payment_id, late_payment_step, merchant_id, occurred_at)
  select payment_id, 'receive', merchant_id, received_at from changed
  returning id
),
entries as (
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting.id, line.number, line.account, line.side, line.amount_rupiah
  from posting, changed, lateral (values
    (1, 'provider_receivable', 'debit', changed.total_rupiah),
    (2, 'suspense', 'credit', changed.total_rupiah)
  ) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
),
recorded as (
  select provider_transaction_id from changed
  union all
  select provider_transaction_id from late_payments where payment_id = $1
)
select provider_transaction_id as "recordedTransactionId" from recorded;

-- submit_late_refund
--   $1 paymentId, $2 at
update late_payments set status = 'submitted', submitted_at = $2
where payment_id = $1 and status = 'received';

-- refund_late_payment
--   $1 paymentId, $2 at, $3 providerReference
with changed as (
  update late_payments set status = 'refunded', finished_at = $2, provider_reference = $3,
    is_manual = false
  where payment_id = $1 and status <> 'refunded'
  returning *
),
closed as (
  select close_exceptions('late_payment', payments.provider_account_id, array[payments.reference_id])
  from changed join payments on payments.id = changed.payment_id
),
posting as (
  insert into ledger_postings (payment_id, late_payment_step, merchant_id, occurred_at)
  select payment_id, 'refund', merchant_id, finished_at from changed
  returning id
),
entries as (
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting.id, line.number, line.account, line.side, line.amount_rupiah
  from posting, changed, lateral (values
    (1, 'suspense', 'debit', changed.total_rupiah),
    (2, 'provider_receivable', 'credit', changed.total_rupiah)
  ) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
),

notifications as (
  update provider_notifications notification set next_notify_at = least(next_notify_at, now()),
    closed_at = case when reported_status = 'refunded' then now() end
  from changed join payments on payments.id = changed.payment_id
  where notification.provider_account_id = payments.provider_account_id
    and notification.reference_id = payments.reference_id and notification.closed_at is null
)
select count(*) from closed;

-- refund_late_payment_manually
--   $1 exceptionId, $2 at, $3 operator, $4 note
with changed as (
  update late_payments set status = 'refunded', finished_at = $2, provider_reference = null, is_manual = true
  from exceptions
  where exceptions.id = $1 and kind = 'late_payment' and resolved_at is null
    and late_payments.payment_id = exceptions.payment_id and late_payments.status <> 'refunded'
  returning late_payments.*
),
closed as (
  update exceptions set resolved_at = now(), resolved_by = $3, note = $4
  from changed where exceptions.id = $1
),
posting as (
  insert into ledger_postings (payment_id, late_payment_step, merchant_id, occurred_at)
  select payment_id, 'refund_manually', merchant_id, finished_at from changed
  returning id
),
entries as (
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting.id, line.number, line.account, line.side, line.amount_rupiah
  from posting, changed, lateral (values
    (1, 'suspense', 'debit', changed.total_rupiah),
    (2, 'cash', 'credit', changed.total_rupiah)
  ) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
),

notifications as (
  update provider_notifications notification set next_notify_at = least(next_notify_at, now())
  from changed join payments on payments.id = changed.payment_id
  where notification.provider_account_id = payments.provider_account_id
    and notification.reference_id = payments.reference_id and notification.closed_at is null
)
select 1 from changed;

-- require_manual_review
--   $1 paymentId, $2 at, $3 reason
with changed as (
  update late_payments set status = 'manual_review', finished_at = $2, failure_reason = $3
  where payment_id = $1 and status in ('received', 'submitted')
  returning *
),
notifications as (
  update provider_notifications notification set next_notify_at = least(next_notify_at, now())
  from changed join payments on payments.id = changed.payment_id
  where notification.provider_account_id = payments.provider_account_id
    and notification.reference_id = payments.reference_id and notification.closed_at is null
)
insert into exceptions (kind, reference_id, provider_account_id, payment_id, amount_rupiah, detail)
select 'late_payment', payments.reference_id, payments.provider_account_id, payments.id, changed.total_rupiah,
  'Money came after the payment was ' || payments.status || ', and is not given back: ' || $3
from changed join payments on payments.id = changed.payment_id
on conflict do nothing;

-- record_archived_late_payment
--   $1 referenceId, $2 providerAccountId, $3 totalRupiah, $4 providerTransactionId, $5 paidAt, $6 at
with changed as (
  insert into archived_late_payments
    (payment_id, merchant_id, total_rupiah, provider_transaction_id, paid_at, received_at)
  select payment_id, merchant_id, $3, $4, $5, $6 from archived_payments
  where reference_id = $1 and not received_money
  on conflict (payment_id) do nothing
  returning *
),
posting as (
  insert into ledger_postings (payment_id, late_payment_step, merchant_id, occurred_at)
  select payment_id, 'receive', merchant_id, received_at from changed
  returning id
),
entries as (
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting.id, line.number, line.account, line.side, line.amount_rupiah
  from posting, changed, lateral (values
    (1, 'provider_receivable', 'debit', changed.total_rupiah),
    (2, 'suspense', 'credit', changed.total_rupiah)
  ) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
),
exception as (
  insert into exceptions (kind, reference_id, provider_account_id, amount_rupiah, detail)
  select 'late_payment', $1, $2, total_rupiah,
    'Money came after the unpaid payment was archived, and is not given back.'
  from changed on conflict do nothing
)
select 1 from archived_late_payments
join archived_payments using (payment_id) where reference_id = $1
union all
select 1 from changed;

-- refund_archived_late_payment_manually
--   $1 exceptionId, $2 at, $3 operator, $4 note
with changed as (
  update archived_late_payments late set refunded_at = $2
  from exceptions join archived_payments archived on archived.reference_id = exceptions.reference_id
  where exceptions.id = $1 and kind = 'late_payment' and resolved_at is null
    and late.payment_id = archived.payment_id and refunded_at is null
  returning late.*
),
closed as (
  update exceptions set resolved_at = now(), resolved_by = $3, note = $4
  from changed where exceptions.id = $1
),
posting as (
  insert into ledger_postings (payment_id, late_payment_step, merchant_id, occurred_at)
  select payment_id, 'refund_manually', merchant_id, refunded_at from changed
  returning id
),
entries as (
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting.id, line.number, line.account, line.side, line.amount_rupiah
  from posting, changed, lateral (values
    (1, 'suspense', 'debit', changed.total_rupiah),
    (2, 'cash', 'credit', changed.total_rupiah)
  ) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
)
select 1 from changed;

-- begin_daily_run
--   $1 kind, $2 startedAt
insert into daily_runs (kind, started_at) values ($1, $2) on conflict do nothing;

-- finish_daily_run
--   $1 kind, $2 startedAt, $3 finishedAt, $4 isComplete, $5 done, $6 failedCount, $7 failed, $8 failure
insert into daily_runs (kind, started_at, finished_at, is_complete, done_count, failed_count, failed, failure)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (kind, started_at) do update set finished_at = excluded.finished_at,
     is_complete = excluded.is_complete, done_count = excluded.done_count, failed_count = excluded.failed_count,
     failed = excluded.failed, failure = excluded.failure
   where daily_runs.finished_at is null;

-- beat_roles
--   $1 roles
insert into role_heartbeats (role) select unnest($1::text[]) order by 1
   on conflict (role) do update set seen_at = now() where role_heartbeats.seen_at < now() - interval '10 seconds';

-- record_failed
--   $1 deliveryId, $2 startedAt, $3 durationMs, $4 statusCode, $5 failure, $6 responseExcerpt
--   $7 endpointId, $8 deadReason, $9 by, $10 retryAfterSeconds, $11 isOwnFault
with endpoint as (
  update webhook_endpoints set
    consecutive_failures = consecutive_failures + case when $11 then 0 else 1 end,
    failing_since = coalesce(failing_since, case when not $11 then now() end),
    next_probe_at = case
      when consecutive_failures + case when $11 then 0 else 1 end < 20 then null
      when next_probe_at > now() then next_probe_at
      else now() + greatest(
        least((now() - coalesce(failing_since, now())) * 0.25, interval '900 seconds'),
        interval '10 seconds', make_interval(secs => $10)) end,
    status = case
      when $8 = 'endpoint_gone'
        or not $11 and consecutive_failures + case when $11 then 0 else 1 end >= 20
          and failing_since < now() - interval '432000 seconds'
      then 'disabled' else status end,
    disabled_reason = case
      when status = 'disabled' then disabled_reason
      when $8 = 'endpoint_gone' then 'gone'
      when $8 = 'endpoint_gone'
        or not $11 and consecutive_failures + case when $11 then 0 else 1 end >= 20
          and failing_since < now() - interval '432000 seconds'
      then 'failing' else disabled_reason end
  where id = $7
  returning id, status, next_probe_at is not null as is_failing, case
    when status = 'disabled' then 'infinity'
    when next_probe_at is not null then now() - interval '259200 seconds'
    else '-infinity' end as dead_before
),
decision as (
  select endpoint.is_failing, case
    when $8::text is not null then $8
    when queued_at < endpoint.dead_before and ($9 = 'relay' or endpoint.status = 'disabled')
    then case endpoint.status when 'disabled' then 'endpoint_disabled' else 'endpoint_failing' end
    end as dead_reason
  from endpoint join webhook_deliveries delivery on delivery.id = $1 and delivery.status = 'pending'
  for update of delivery
),
delivery as (
  update webhook_deliveries set
    attempts_total = attempts_total + 1,
    attempts_in_cycle = attempts_in_cycle + case $9 when 'workflow' then 1 else 0 end,
    status = case when decision.dead_reason is not null then 'dead' else status end,
    dead_reason = coalesce(decision.dead_reason, webhook_deliveries.dead_reason),
    finished_at = case when decision.dead_reason is not null then now() else finished_at end,
    retry_workflow_started_at =
      case $9 when 'workflow' then coalesce(retry_workflow_started_at, now()) else retry_workflow_started_at end,
    leased_until = case when decision.is_failing then '-infinity' else now() + interval '30 seconds' end
  from (select) always left join decision on true
  where id = $1
  returning id, attempts_total, status, coalesce(decision.is_failing, false) as "isFailing",
    decision.dead_reason is not null as "becameDead"
),
attempt as (
  insert into webhook_attempts (delivery_id, number, started_at, duration_ms, status_code, failure, response_excerpt)
  select id, attempts_total, $2, $3, $4, $5, $6 from delivery
)
select status, "isFailing", "becameDead" from delivery;
