import { createPublicKey, generateKeyPair, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { Pool } from 'pg';
import { expectOne } from '../ledger-records';
import type { BodyForm } from './signatures';

/** How an acquirer uses SNAP. */
export const SNAP_PROFILES = {
  midtrans: { calls: 'hmac_with_token', pathPrefix: '/v1.0', notifications: 'iris' },
  faspay: { calls: 'rsa', pathPrefix: '/account/v1.0', notifications: 'snap' },
} as const;
export type SnapProfileName = keyof typeof SNAP_PROFILES;
export const SNAP_PROFILE_NAMES = ['midtrans', 'faspay'] as const satisfies readonly SnapProfileName[];

/** A merchant of the simulated acquirer, with its secrets. */
export interface SnapMerchant {
  readonly clientId: string;
  readonly profile: SnapProfileName;
  readonly clientSecret: string;
  readonly partnerId: string;
  readonly channelId: string;
  readonly publicKeyPem: string;
  readonly merchantKey: string;
  readonly notificationUrl: string | null;
}

/** A call whose signature was right. */
export interface SnapCallRecord {
  readonly externalId: string;
  readonly service: string;
  readonly signedForm: BodyForm;
}

const MERCHANT_COLUMNS = `
  client_id as "clientId", profile, client_secret as "clientSecret", partner_id as "partnerId",
  channel_id as "channelId", public_key_pem as "publicKeyPem", merchant_key as "merchantKey",
  notification_url as "notificationUrl"`;

const DEFAULT_TOKEN_SECONDS = 900;
const generateKeyPairAsync = promisify(generateKeyPair);

export interface Registration {
  readonly profile: SnapProfileName;
  readonly publicKeyPem: string;
  readonly notificationUrl: string | null;
}

/** What the acquirer knows of its merchants: onboarding, tokens and external ids. */
export class SnapMerchants {
  #tokenSeconds = DEFAULT_TOKEN_SECONDS;

  constructor(private readonly pool: Pool) {}

  /** Onboarding: the acquirer issues the credentials. A second merchant is a stranger to the first one. */
  async register({ profile, publicKeyPem, notificationUrl }: Registration) {
    const acquirerKeyPem = await this.#keyOf(profile);
    const { rows } = await this.pool.query<SnapMerchant>(
      `insert into snap_merchants (client_id, profile, client_secret, partner_id, channel_id, public_key_pem,
         merchant_key, notification_url)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${MERCHANT_COLUMNS}`,
      [
        `SNAP-${randomUUID()}`,
        profile,
        randomBytes(24).toString('base64url'),
        // The client of Faspay starts its numeric external ids with it.
        String(randomInt(10 ** 8, 10 ** 9)),
        String(randomInt(10 ** 4, 10 ** 5)),
        publicKeyPem,
        `merchant-key-${randomUUID()}`,
        notificationUrl,
      ],
    );
    const acquirerPublicKey = createPublicKey(acquirerKeyPem).export({ type: 'spki', format: 'pem' }).toString();
    return { merchant: expectOne(rows), acquirerPublicKey };
  }

  async findByClientId(clientId: string): Promise<SnapMerchant | undefined> {
    return this.#find('client_id', clientId);
  }

  async findByPartnerId(partnerId: string): Promise<SnapMerchant | undefined> {
    return this.#find('partner_id', partnerId);
  }

  async issueToken({ clientId }: SnapMerchant): Promise<{ token: string; seconds: number }> {
    const [token, seconds] = [randomBytes(32).toString('base64url'), this.#tokenSeconds];
    await this.pool.query(
      `insert into snap_tokens (token, client_id, expires_at) values ($1, $2, now() + $3 * interval '1 second')`,
      [token, clientId, seconds],
    );
    return { token, seconds };
  }

  /** The merchant of a token. */
  async findToken(token: string): Promise<{ merchant: SnapMerchant; isExpired: boolean } | undefined> {
    const { rows } = await this.pool.query<SnapMerchant & { isExpired: boolean }>(
      `select ${MERCHANT_COLUMNS}, expires_at <= now() as "isExpired"
       from snap_tokens join snap_merchants using (client_id) where token = $1`,
      [token],
    );
    const [row] = rows;
    if (!row) return undefined;
    const { isExpired, ...merchant } = row;
    return { merchant, isExpired };
  }

  setTokenSeconds(seconds: number): void {
    this.#tokenSeconds = seconds;
  }

  async revokeTokens(): Promise<void> {
    await this.pool.query('delete from snap_tokens');
  }

  /**
   * Records a call, so that its external id is used for today.
   * @returns false if the merchant has used the id today
   */
  async recordCall({ clientId }: SnapMerchant, { externalId, service, signedForm }: SnapCallRecord): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `insert into snap_external_ids (client_id, day, external_id, service, signed_form)
       values ($1, (now() at time zone 'Asia/Jakarta')::date, $2, $3, $4) on conflict do nothing`,
      [clientId, externalId, service, signedForm],
    );
    return rowCount === 1;
  }

  /** The calls of a merchant that were recorded, in their order. */
  async listCalls(clientId: string): Promise<SnapCallRecord[]> {
    const { rows } = await this.pool.query<SnapCallRecord>(
      `select external_id as "externalId", service, signed_form as "signedForm"
       from snap_external_ids where client_id = $1 order by called_at`,
      [clientId],
    );
    return rows;
  }

  /** The private key with which the acquirer signs its notifications. Generated once. */
  async #keyOf(profile: SnapProfileName): Promise<string> {
    const known = await this.#readKey(profile);
    if (known !== undefined) return known;
    const { privateKey } = await generateKeyPairAsync('rsa', { modulusLength: 2048 });
    await this.pool.query('insert into snap_keys (profile, private_key_pem) values ($1, $2) on conflict do nothing', [
      profile,
      privateKey.export({ type: 'pkcs8', format: 'pem' }),
    ]);
    return this.#keyOf(profile);
  }

  async #readKey(profile: SnapProfileName): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ pem: string }>(
      'select private_key_pem as pem from snap_keys where profile = $1',
      [profile],
    );
    return rows[0]?.pem;
  }

  async #find(column: 'client_id' | 'partner_id', value: string): Promise<SnapMerchant | undefined> {
    const { rows } = await this.pool.query<SnapMerchant>(
      `select ${MERCHANT_COLUMNS} from snap_merchants where ${column} = $1`,
      [value],
    );
    return rows[0];
  }
}
