import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { v5 as uuidv5 } from 'uuid';
import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { addPayoutsAccount } from '../provider-accounts/payouts-account';

export interface PayoutsSeed {
  readonly db: Queryable;
  readonly sealer: Sealer;
  /** A sandbox that runs: the account is opened at its bank. */
  readonly sandboxUrl: string;
  /** Our API: the bank sends its notifications there. */
  readonly apiUrl: string;
}

const NAMESPACE = '01935b6c-7c00-7000-8000-7061796f7574';
const PROFILE = 'midtrans';
/** The account that pays, at the sandbox's bank. */
const SOURCE_ACCOUNT = '0000000000';
const COOLDOWN_SECONDS = 10;
const TIMEOUT_MS = 10_000;

const issuedSchema = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  partner_id: z.string(),
  channel_id: z.string(),
  merchant_key: z.string(),
});

/**
 * Opens our payouts account at the sandbox's bank, once for each address of the sandbox, and shortens the cool-down of
 * bank accounts to ten seconds. Repeatable: it keeps the changes of operators.
 */
export async function seedPayouts({ db, sealer, sandboxUrl, apiUrl }: PayoutsSeed): Promise<void> {
  await db.query(
    `insert into payout_limits (cooldown_seconds, replaces_id)
     select $1, id from (select id, replaces_id from payout_limits order by id desc limit 1) newest
     where replaces_id is null`,
    [COOLDOWN_SECONDS],
  );
  const baseUrl = `${sandboxUrl}/snap/${PROFILE}`;
  const id = uuidv5(baseUrl, NAMESPACE);
  const known = await db.query('select from provider_accounts where id = $1', [id]);
  if (known.rowCount === 1) return;
  const credentials = await openAccount(sandboxUrl, `${apiUrl}/provider-notifications/${id}`);
  await db.query(
    `update provider_accounts set status = 'disabled'
     where purpose = 'payouts' and status = 'enabled' and base_url like $1`,
    [`http://127.0.0.1:%/snap/${PROFILE}`],
  );
  const account = { id, adapter: `snap-${PROFILE}`, baseUrl, credentials, isProposed: false } as const;
  await addPayoutsAccount(db, sealer, { ...account, environment: 'sandbox' });
}

/** Onboarding at the bank. The private key is only in the credentials, which are stored sealed. */
async function openAccount(sandboxUrl: string, notificationUrl: string): Promise<string> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const response = await fetch(`${sandboxUrl}/simulator/snap/merchants`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      profile: PROFILE,
      public_key: publicKey.export({ type: 'spki', format: 'pem' }),
      notification_url: notificationUrl,
    }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`The sandbox's bank opened no account: HTTP ${response.status}`);
  const issued = issuedSchema.parse(await response.json());
  return JSON.stringify({
    clientId: issued.client_id,
    clientSecret: issued.client_secret,
    partnerId: issued.partner_id,
    channelId: issued.channel_id,
    merchantKey: issued.merchant_key,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    sourceAccountNo: SOURCE_ACCOUNT,
  });
}
