import type { Sealer } from '../crypto/sealing';
import type { Logger } from '../observability/logger';
import type { SealedSecret } from './outbox';

export interface SecretReader {
  readonly sealer: Sealer;
  readonly log: Pick<Logger, 'error'>;
}

export function openSecret({ id, sealed }: SealedSecret, sealer: Sealer): string {
  return sealer.open(sealed, ['webhook-secret', id]);
}

/**
 * The secrets that can be opened: while two are valid, the receiver accepts each. The log names the others.
 * @throws if there are only others; the message is for the merchant, only the cause has details
 */
export function openSecrets(
  { sealer, log }: SecretReader,
  deliveryId: string,
  sealedSecrets: readonly SealedSecret[],
): string[] {
  const opened: string[] = [];
  const errors = new Map<string, unknown>();
  for (const sealed of sealedSecrets) {
    try {
      opened.push(openSecret(sealed, sealer));
    } catch (error) {
      errors.set(sealed.id, error);
    }
  }
  const [cause] = errors.values();
  if (errors.size > 0 && opened.length === 0) throw new Error("the endpoint's secret could not be opened", { cause });
  if (errors.size > 0) {
    log.error({ err: cause, delivery: deliveryId, secrets: [...errors.keys()] }, 'webhook secret not opened');
  }
  return opened;
}
