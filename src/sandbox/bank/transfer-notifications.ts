import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { expectOne } from '../ledger-records';
import type { AttemptResult, DueNotification, NotificationClaim, NotificationQueue } from '../notification-queue';
import { SNAP_PROFILES, type SnapProfileName } from '../snap/merchants';
import { signWithKey, textToSign } from '../snap/signatures';
import { formatWib, renderAmount, STATUS_CODES } from './bank-format';
import { behaviourOf } from './magic-accounts';
import type { Transfer } from './transfer-records';

interface Receiver {
  readonly profile: SnapProfileName;
  readonly notificationUrl: string | null;
  readonly merchantKey: string;
  readonly privateKeyPem: string;
}

interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The statuses of Iris. It reports a returned payout as failed. */
const IRIS_STATUSES: Partial<Record<Transfer['status'], string>> = {
  pending: 'processed',
  completed: 'completed',
  failed: 'failed',
  returned: 'failed',
};

const WRONG_ORDER_DELAY_SECONDS = 1;

/** Enqueues the notification of a change, in its transaction, as the beneficiary's account behaves. */
export async function enqueueTransferNotifications(
  client: PoolClient,
  transfer: Transfer,
  times: number,
): Promise<void> {
  const receiver = await findReceiver(client, transfer);
  const { notifications } = behaviourOf(transfer.accountNumber);
  if (receiver.notificationUrl === null || notifications === 'none') return;
  const message = messageOf(transfer, receiver);
  const sent = notifications === 'forged' ? { ...message, headers: forge(message.headers) } : message;
  const count = notifications === 'twice' ? 2 * times : times;
  const isWrongOrder = notifications === 'wrong_order';
  if (!isWrongOrder || transfer.status !== 'pending') await enqueue(client, transfer, sent, { count, delaySeconds: 0 });
  if (isWrongOrder && transfer.status === 'completed') {
    const first = messageOf({ ...transfer, status: 'pending' }, receiver);
    await enqueue(client, transfer, first, { count: 1, delaySeconds: WRONG_ORDER_DELAY_SECONDS });
  }

  async function enqueue(
    db: PoolClient,
    { referenceNo }: Transfer,
    { headers, body }: Message,
    options: { count: number; delaySeconds: number },
  ): Promise<void> {
    await db.query(
      `insert into transfer_notifications (reference_no, url, headers, body, due_at)
       select $1, $2, $3, $4, now() + $6 * interval '1 second' from generate_series(1, $5::integer)`,
      [referenceNo, receiver.notificationUrl, JSON.stringify(headers), body, options.count, options.delaySeconds],
    );
  }
}

/** The notifications of transfers. */
export function transferNotifications(pool: Pool, sweep: () => Promise<void>): NotificationQueue {
  return {
    operation: 'transfer_notify',
    sweep,
    claim: (limits) => claim(pool, limits),
    record: (notification, result) => record(pool, notification, result),
    forge: (notification) => ({ ...notification, headers: forge(notification.headers) }),
  };
}

async function findReceiver(client: PoolClient, { clientId }: Transfer): Promise<Receiver> {
  const { rows } = await client.query<Receiver>(
    `select profile, notification_url as "notificationUrl", merchant_key as "merchantKey",
       private_key_pem as "privateKeyPem"
     from snap_merchants join snap_keys using (profile) where client_id = $1`,
    [clientId],
  );
  return expectOne(rows);
}

function messageOf(transfer: Transfer, receiver: Receiver): Message {
  return SNAP_PROFILES[receiver.profile].notifications === 'iris'
    ? irisMessage(transfer, receiver)
    : snapMessage(transfer, receiver);
}

/** The form of Midtrans' payouts before SNAP, which it still uses: SHA-512 of the body and the merchant key, in hex. */
function irisMessage(transfer: Transfer, { merchantKey }: Receiver): Message {
  const body = JSON.stringify({
    reference_no: transfer.referenceNo,
    amount: `${transfer.amountRupiah}.0`,
    status: IRIS_STATUSES[transfer.status],
    updated_at: new Date().toISOString().slice(0, 19) + 'Z',
    partner_reference_no: transfer.partnerReferenceNo,
  });
  return {
    headers: {
      'iris-signature': createHash('sha512')
        .update(body + merchantKey)
        .digest('hex'),
    },
    body,
  };
}

/** A notification of SNAP: the bank's key signs path, body and time. */
function snapMessage(transfer: Transfer, { notificationUrl, privateKeyPem }: Receiver): Message {
  const body = JSON.stringify({
    originalReferenceNo: transfer.referenceNo,
    originalPartnerReferenceNo: transfer.partnerReferenceNo,
    amount: renderAmount(transfer.amountRupiah),
    latestTransactionStatus: STATUS_CODES.faspay[transfer.status],
  });
  const timestamp = formatWib(new Date());
  const path = new URL(notificationUrl ?? 'http://localhost').pathname;
  const text = textToSign({ path, token: '', timestamp, rawBody: Buffer.from(body) }, 'raw');
  return { headers: { 'x-timestamp': timestamp, 'x-signature': signWithKey(privateKeyPem, text) }, body };
}

/** The headers with a signature of the right length that no key made. */
function forge(headers: Message['headers']): Record<string, string> {
  const forged = Object.entries(headers).map(([name, value]) => {
    if (name === 'iris-signature') return [name, '0'.repeat(value.length)] as const;
    if (name === 'x-signature') return [name, Buffer.alloc(256).toString('base64')] as const;
    return [name, value] as const;
  });
  return Object.fromEntries(forged);
}

async function claim(pool: Pool, { limit, leaseMs }: NotificationClaim): Promise<DueNotification[]> {
  const { rows } = await pool.query<DueNotification>({
    name: 'claim_transfers',
    text: `
      update transfer_notifications set attempts = attempts + 1, due_at = now() + $2 * interval '1 ms'
      where id in (
        select id from transfer_notifications where due_at <= now() order by due_at, id limit $1
        for update skip locked)
      returning id, reference_no as reference, url, headers, body, attempts - 1 as attempts`,
    values: [limit, leaseMs],
  });
  return rows;
}

async function record(pool: Pool, { id }: DueNotification, result: AttemptResult): Promise<void> {
  const isFinal = result.outcome !== 'postponed';
  await pool.query(
    `update transfer_notifications set outcome = $2, last_response = $3, due_at = now() + $4 * interval '1 ms'
     where id = $1`,
    [id, isFinal ? result.outcome : null, result.response, isFinal ? null : result.delayMs],
  );
}
