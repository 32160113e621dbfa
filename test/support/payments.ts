import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '../../src/db/connection/pool';
import type { TransitionContext } from '../../src/db/transitions/apply-transition';
import type { PaymentTerms } from '../../src/domain/payment';
import { createTestDatabase, type TestDatabase } from './database';

/** A new database with a merchant, a policy and a provider account, so that payments can be written. */
export interface TestLedger {
  readonly db: Pool;
  readonly context: TransitionContext;
  readonly merchantId: string;
  newTerms(changes?: Partial<PaymentTerms>): PaymentTerms;
  close(): Promise<void>;
}

export async function createTestLedger(
  create = createTestDatabase,
): Promise<TestLedger & { readonly database: TestDatabase }> {
  const database = await create();
  const db = createPool(database.url, { max: 8 });
  const [merchantId, policyId, providerAccountId] = [randomUUID(), randomUUID(), randomUUID()];
  await db.query("insert into merchants (id, name, status) values ($1, 'Toko', 'approved')", [merchantId]);
  await db.query(
    `insert into policies (id, provider, channel, version, fee_basis_points, fee_flat_rupiah, settlement_kind,
       settlement_delay_seconds, expires_in_seconds) values ($1, 'gopay', 'qris', 1, 70, 0, 'automatic', 86400, 900)`,
    [policyId],
  );
  await db.query(
    `insert into provider_accounts (id, provider, adapter, base_url, sealed_server_key)
       values ($1, 'gopay', 'midtrans', 'http://127.0.0.1:9', 'none')`,
    [providerAccountId],
  );
  return {
    database,
    db,
    merchantId,
    context: { db, environment: 'sandbox', onDeliveries: () => undefined },
    newTerms: (changes = {}) => newTerms({ merchantId, policyId, providerAccountId, ...changes }),
    async close() {
      await db.end();
      await database.drop();
    },
  };
}

/** The terms of a new payment of 50,000 rupiah. */
export function newTerms(
  changes: Partial<PaymentTerms> & Pick<PaymentTerms, 'merchantId' | 'policyId' | 'providerAccountId'>,
): PaymentTerms {
  return {
    paymentId: randomUUID(),
    referenceId: `LN${randomUUID().replaceAll('-', '').slice(0, 16).toUpperCase()}`,
    merchantReferenceId: 'ORDER-1',
    idempotencyKey: null,
    fingerprint: 'f',
    paymentMethod: 'qris',
    provider: 'gopay',
    amountRupiah: 50_000,
    feeRupiah: 350,
    totalRupiah: 50_000,
    netRupiah: 49_650,
    feePayer: 'merchant',
    settlementKind: 'automatic',
    settlementDelaySeconds: 86_400,
    expiresInSeconds: 900,
    ...changes,
  };
}

/** The first step of a payment, as its workflow requests it. */
export function creation(terms: PaymentTerms, at: Date) {
  return { terms, createdAtMs: at.getTime() };
}
