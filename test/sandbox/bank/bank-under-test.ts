import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { openSandbox, type Json, type SandboxUnderTest } from '../sandbox-under-test';

export type ProfileName = 'midtrans' | 'faspay';

/** A merchant of the simulated bank, with the credentials that the bank has issued. */
export interface BankMerchant {
  readonly profile: ProfileName;
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly partnerId: string;
  readonly channelId: string;
  readonly merchantKey: string;
  readonly acquirerPublicKey: string;
  readonly privateKeyPem: string;
}

export interface BankUnderTest {
  readonly sandbox: SandboxUnderTest;
  register(profile: ProfileName, notificationUrl?: string): Promise<BankMerchant>;
  /** The transfer of a reference, with its executions; undefined if the bank has none. */
  findTransfer(reference: string): Promise<Json>;
  /** The next calls of the operation fail in this way. */
  fail(operation: string, kind: string, times?: number): Promise<void>;
}

/** What the bank issues to the merchant, as an operator registers it. */
export function issuedTo({ clientId, clientSecret, partnerId, channelId, merchantKey, ...merchant }: BankMerchant) {
  return {
    clientId,
    clientSecret,
    partnerId,
    channelId,
    merchantKey,
    privateKey: merchant.privateKeyPem,
    sourceAccountNo: '0000000000',
    acquirerPublicKeys: [merchant.acquirerPublicKey],
  };
}

export function newPayoutReference(): string {
  return `LP${randomUUID().replaceAll('-', '').slice(0, 16).toUpperCase()}`;
}

export async function openBank(): Promise<BankUnderTest> {
  const sandbox = await openSandbox();
  return {
    sandbox,
    async register(profile, notificationUrl) {
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const issued = await sandbox.call('POST', '/simulator/snap/merchants', {
        profile,
        public_key: publicKey.export({ type: 'spki', format: 'pem' }),
        ...(notificationUrl !== undefined && { notification_url: notificationUrl }),
      });
      return {
        profile,
        baseUrl: `${sandbox.url}/snap/${profile}`,
        clientId: issued.client_id,
        clientSecret: issued.client_secret,
        partnerId: issued.partner_id,
        channelId: issued.channel_id,
        merchantKey: issued.merchant_key,
        acquirerPublicKey: issued.acquirer_public_key,
        privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
    async findTransfer(reference) {
      const { transfers } = await sandbox.call('GET', '/simulator/transfers');
      return transfers.find((transfer: Json) => transfer.partner_reference_no === reference);
    },
    async fail(operation, kind, times = 1) {
      await sandbox.call('PUT', '/simulator/faults', { operation, kind, times });
    },
  };
}
