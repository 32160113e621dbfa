import { v5 as uuidv5 } from 'uuid';
import { createSealer, type Sealer } from '../../crypto/sealing';
import { findEnvironment } from '../../db/connection/environment';
import { createPool, type Queryable } from '../../db/connection/pool';
import { FEE_CLASSES, PROPOSED_BANDS } from '../../domain/fee-classes';
import { PROVIDERS } from '../../domain/provider-capabilities';
import { ConflictError } from '../../errors';
import type { PaymentAdapter } from '../../providers/adapters';
import { insertFeeSchedules } from '../fees/fee-rates';
import { insertCompany } from '../invoices/company-details';
import { listPolicies, setPolicy } from '../provider-accounts/catalog';
import { findNewestSecret } from '../webhooks/webhook-secrets';
import { ensureSandboxKey } from './sandbox-key';

export interface DemoOptions {
  /** The URL of a migrated database. */
  readonly databaseUrl: string;
  readonly masterKey: string;
  readonly oldMasterKeys?: readonly string[] | undefined;
  /** The sandbox's address; the demo accounts are updated if it changes. */
  readonly sandboxUrl: string;
  readonly sandboxServerKey: string;
  /** By default two minutes: long enough to refund a payment, short enough to see one settle. */
  readonly settlementDelaySeconds?: number;
}

export interface Demo {
  readonly merchantId: string;
  readonly secretKey: string;
  /** The secret of the newest endpoint; null if there is none. */
  readonly webhookSecret: string | null;
}

const DEMO_ADAPTER: PaymentAdapter = 'midtrans';
const DEMO_MERCHANT_ID = '01935b6c-7c00-7000-8000-00006c756e61';
const DEMO_OWNER_ID = '01935b6c-7c00-7000-8000-6f776e657231';
/** Has no password: `lunas up` and `lunas users link` print links that sign in once. */
export const DEMO_OWNER_EMAIL = 'owner@demo.test';

const DEMO_SETTLEMENT_DELAY_SECONDS = 120;

/** Who issues the invoices of the sandbox. */
const DEMO_COMPANY = {
  version: 1,
  legalName: 'Lunas Sandbox',
  address: 'Jalan Contoh 1, Jakarta',
  taxNumber: '000000000000000',
} as const;

/** Since then micro merchants pay nothing up to Rp 500,000. */
const PROPOSAL_VALID_FROM = '2024-12-01';

/**
 * Creates what `lunas up` shows: an approved merchant with a key and an owner, the proposed rates, the company that
 * issues invoices, and for each provider a policy and an account at the sandbox. Repeatable: it returns the same
 * merchant and key, and keeps the changes of operators.
 * @throws ConflictError if the database is not one of the sandbox
 */
export async function seedDemo(options: DemoOptions): Promise<Demo> {
  const db = createPool(options.databaseUrl, { max: 1 });
  const sealer = createSealer(options.masterKey, options.oldMasterKeys);
  try {
    const environment = await findEnvironment(db);
    if (environment !== 'sandbox') {
      const text = `Demo data is only for a sandbox: this database records ${environment ?? 'no environment'}.`;
      throw new ConflictError('not_allowed', text);
    }
    await ensureMerchant(db);
    await ensureOwner(db);
    await ensurePolicies(db, options);
    await ensureRates(db);
    await insertCompany(db, DEMO_COMPANY);
    await ensureAccounts(db, sealer, options);
    return {
      merchantId: DEMO_MERCHANT_ID,
      secretKey: await ensureSandboxKey(db, options.masterKey, { merchantId: DEMO_MERCHANT_ID, name: 'Demo' }),
      webhookSecret: await findNewestSecret(db, sealer, DEMO_MERCHANT_ID),
    };
  } finally {
    await db.end();
  }
}

/** Whether the demo merchant may use the API. Its key is derived from the master key. */
export async function hasDemoData(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query("select from merchants where id = $1 and status = 'approved'", [
    DEMO_MERCHANT_ID,
  ]);
  return rowCount === 1;
}

async function ensureMerchant(db: Queryable): Promise<void> {
  await db.query(
    `insert into merchants (id, name, status, providers) values ($1, 'Demo merchant', 'approved', $2)
     on conflict (id) do nothing`,
    [DEMO_MERCHANT_ID, PROVIDERS],
  );
}

/** An owner whom an operator has disabled or a colleague has removed stays so. */
async function ensureOwner(db: Queryable): Promise<void> {
  await db.query(
    `insert into users (id, realm, email, name, language) values ($1, 'merchant', $2, 'Demo owner', 'en')
     on conflict (realm, email) do nothing`,
    [DEMO_OWNER_ID, DEMO_OWNER_EMAIL],
  );
  await db.query(
    `insert into members (merchant_id, user_id, role, invited_by, created_at)
     select $1, id, 'owner', 'cli:demo', now() from users where realm = 'merchant' and email = $2
     on conflict (merchant_id, user_id) do nothing`,
    [DEMO_MERCHANT_ID, DEMO_OWNER_EMAIL],
  );
}

/** The terms besides the settlement delay are the initial ones. */
async function ensurePolicies(
  db: Queryable,
  { settlementDelaySeconds = DEMO_SETTLEMENT_DELAY_SECONDS }: DemoOptions,
): Promise<void> {
  const present = new Set((await listPolicies(db)).map((policy) => policy.provider));
  for (const provider of PROVIDERS) {
    if (present.has(provider)) continue;
    await setPolicy(db, { provider, channel: 'qris', settlementDelaySeconds });
  }
}

/** The demo merchant has no identity, so its fee is that of the catalog. */
async function ensureRates(db: Queryable): Promise<void> {
  const proposal = FEE_CLASSES.map((own) => ({ class: own, version: 1, bands: PROPOSED_BANDS[own] }));
  await insertFeeSchedules(db, PROPOSAL_VALID_FROM, proposal);
}

async function ensureAccounts(db: Queryable, sealer: Sealer, options: DemoOptions): Promise<void> {
  for (const provider of PROVIDERS) {
    const id = uuidv5(provider, DEMO_MERCHANT_ID);
    await db.query(
      `insert into provider_accounts (id, provider, adapter, base_url, sealed_server_key)
       values ($1, $2, $3, $4, $5)
       on conflict (id) do update set base_url = excluded.base_url, sealed_server_key = excluded.sealed_server_key,
         key_fingerprint = null`,
      [
        id,
        provider,
        DEMO_ADAPTER,
        options.sandboxUrl,
        sealer.seal(options.sandboxServerKey, ['provider-server-key', id, DEMO_ADAPTER, options.sandboxUrl]),
      ],
    );
  }
}
