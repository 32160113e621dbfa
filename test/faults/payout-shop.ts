import { randomUUID } from 'node:crypto';
import { fixValue } from '../../src/crypto/fixed-value';
import { createSealer, type Sealer } from '../../src/crypto/sealing';
import type { Pool, Queryable } from '../../src/db/connection/pool';
import {
  changeBankAccount,
  insertBankAccount,
  verifyBankAccount,
} from '../../src/db/transitions/bank-account-transitions';
import { PAYOUT_EVENTS } from '../../src/domain/events';
import { DEFAULT_HOLDER_NAME } from '../../src/sandbox/bank/magic-accounts';
import { issueKey } from '../support/keys';
import { createMember, createShop } from '../support/people';
import { registerEndpoint } from '../support/webhooks';
import type { Journal } from './journal';
import type { RecordingReceiver } from './receiver';

const BANK_CODE = '014';
const OPERATOR = 'cli:faults';

export interface ShopTarget {
  readonly db: Pool;
  readonly masterKey: string;
  readonly receiver: RecordingReceiver;
}

export interface ShopOptions {
  /** The number of its bank account decides what the bank does. */
  readonly number?: string;
  readonly hasSecondMember?: boolean;
}

/** A merchant with a bank account in use. One of its endpoints lists the events of payouts. */
export interface Shop {
  readonly merchantId: string;
  readonly secretKey: string;
  /** The ids of its members. Without a second one, both are the owner. */
  readonly owner: string;
  readonly second: string;
  bankAccountId: string;
}

/** In one transaction: after an error none of it exists, or the caller does not know it and opens another one. */
export async function openShop(
  { db, masterKey, receiver }: ShopTarget,
  journal: Journal,
  { number = '1234567890', hasSecondMember = false }: ShopOptions,
): Promise<Shop> {
  const sealer = createSealer(masterKey);
  return inTransaction(db, async (client) => {
    const { id: merchantId } = await createShop(client);
    const { secret: secretKey } = await issueKey(client, { merchantId, environment: 'sandbox' });
    const urls = { payments: `${receiver.url}/${merchantId}`, payouts: `${receiver.url}/${merchantId}/payouts` };
    for (const [kind, events] of [['payments', []] as const, ['payouts', PAYOUT_EVENTS] as const]) {
      const endpoint = { merchantId, url: urls[kind], events } as const;
      receiver.secrets.set(urls[kind], (await registerEndpoint(client, sealer, endpoint)).secret);
    }
    const owner = await createMember(client, `${randomUUID()}@shop.test`, [[merchantId, 'owner']]);
    const second = hasSecondMember
      ? await createMember(client, `${randomUUID()}@shop.test`, [[merchantId, 'finance']])
      : owner;
    const bankAccountId = await useAccount(client, sealer, { merchantId, number });
    journal.payouts.accountNumbers.set(bankAccountId, number);
    return { merchantId, secretKey, owner, second, bankAccountId };
  });
}

/** Another account is approved: the one in use ends. @returns the id of the new one */
export async function replaceAccount(
  { db, masterKey }: ShopTarget,
  journal: Journal,
  { merchantId }: Shop,
): Promise<string> {
  const number = '5555550000';
  const account = { merchantId, number };
  const id = await inTransaction(db, (client) => useAccount(client, createSealer(masterKey), account));
  journal.payouts.accountNumbers.set(id, number);
  return id;
}

/** An account of which the bank has reported the holder, and which an operator approves. @returns its id */
async function useAccount(
  db: Queryable,
  sealer: Sealer,
  { merchantId, number }: { readonly merchantId: string; readonly number: string },
): Promise<string> {
  const [id, at] = [randomUUID(), new Date()];
  const fixed = fixValue(sealer, number, ['bank-account-number', id, merchantId, BANK_CODE]);
  const numbers = { sealedNumber: fixed.sealed, numberHmac: fixed.hash, lastFour: number.slice(-4) };
  await insertBankAccount(db, { id, merchantId, bankCode: BANK_CODE, ...numbers, at, actor: OPERATOR });
  const change = { id, merchantId, version: null, at, actor: OPERATOR } as const;
  const sealedHolderName = sealer.seal(DEFAULT_HOLDER_NAME, ['bank-account-holder', id]);
  await verifyBankAccount(db, change, { sealedHolderName, nameMatch: 'same', sameNumberMerchants: [] });
  await changeBankAccount(db, 'approve', change);
  return id;
}

async function inTransaction<T>(db: Pool, work: (client: Queryable) => Promise<T>): Promise<T> {
  const client = await db.connect();
  // PostgreSQL may be killed meanwhile.
  client.on('error', () => undefined);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
