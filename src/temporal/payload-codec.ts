import type { KeyObject } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { decrypt, encrypt } from '../crypto/aead';
import type { DerivedKeys } from '../crypto/derived-keys';
import type { RejectedPayload } from '../domain/rejected-payload';
import { messageOf } from '../errors';
import type { Logger } from '../observability/logger';
import { increment } from '../observability/metrics';
import { paymentIdOf } from './log-payment';

/** Keys of 32 bytes, by the id of the master key that they are derived from. */
export interface PayloadKeys {
  /** Encrypts. */
  current(): { readonly keyId: string; readonly key: KeyObject };
  /** Decrypts; undefined if there is no such key. */
  find(keyId: string): Promise<KeyObject | undefined>;
}

const LABEL = 'lunas temporal payloads';

/** The keys of payloads, also those of retired master keys, which open workflows were started with. */
export function payloadKeys(derivedKeys: DerivedKeys): PayloadKeys {
  return { current: () => derivedKeys.current(LABEL), find: (keyId) => derivedKeys.find(LABEL, keyId) };
}

/** The keys of a client that sends no payload. */
export const NO_PAYLOAD_KEYS: PayloadKeys = {
  current() {
    throw new Error('This client has no key for payloads');
  },
  find: () => Promise.resolve(undefined),
};

/** The workflow that a payload belongs to: the SDK's serialization contexts of workflows and activities have it. */
interface PayloadContext {
  readonly workflowId?: string;
}

const ENCODING = 'binary/encrypted';

/** A schedule appends the time to the id of its workflow. Results pass from one such workflow to the next. */
const SCHEDULED_TIME = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** The payload is not authentic. Any other error, such as an unavailable PostgreSQL, does not concern the payload. */
export class NotAuthenticError extends Error {
  override readonly name = 'NotAuthenticError';
}

/**
 * Encrypts and authenticates what Temporal stores: arguments, results and summaries. Each payload is bound to its
 * namespace, its workflow id and its encoding, which are the associated data. The workflow id is also in the metadata,
 * in clear: a codec server has no other way to learn it. Where the SDK names the workflow, the two must be the same.
 * Search attributes are not encrypted.
 */
export class EncryptingCodec implements PayloadCodec {
  constructor(
    private readonly keys: PayloadKeys,
    readonly namespace: string,
  ) {}

  /** @throws Error if a payload has metadata besides its encoding */
  encode(payloads: Payload[], context?: PayloadContext): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => this.encrypt(payload, boundId(context?.workflowId))));
  }

  /** @throws NotAuthenticError if a payload is not encrypted or not authentic, Error if its key cannot be read */
  decode(payloads: Payload[], context?: PayloadContext): Promise<Payload[]> {
    return Promise.all(payloads.map((payload) => this.decrypt(payload, context)));
  }

  private encrypt({ metadata, data }: Payload, workflowId: string): Payload {
    const { encoding, ...others } = metadata ?? {};
    if (!encoding || Object.keys(others).length > 0)
      throw new TypeError('A payload must have an encoding, and no more');
    const { keyId, key } = this.keys.current();
    return {
      metadata: {
        encoding: Buffer.from(ENCODING),
        content: encoding,
        key: Buffer.from(keyId),
        workflow: Buffer.from(workflowId),
      },
      data: encrypt(key, data ?? Buffer.alloc(0), this.associatedData(workflowId, encoding)),
    };
  }

  private async decrypt(payload: Payload, context?: PayloadContext): Promise<Payload> {
    const { metadata, data } = payload;
    if (!isEncrypted(payload)) throw new NotAuthenticError('it is not encrypted');
    const keyId = textOf(metadata?.['key']);
    const key = await this.keys.find(keyId);
    if (!key) {
      throw new NotAuthenticError(`it is encrypted with the key ${keyId}, which this process does not have`);
    }
    const workflowId = workflowIdOf(payload);
    if (context?.workflowId !== undefined && workflowId !== boundId(context.workflowId)) {
      throw new NotAuthenticError(`it belongs to the workflow ${workflowId}`);
    }
    const encoding = metadata?.['content'] ?? Buffer.alloc(0);
    try {
      const plaintext = decrypt(key, data ?? Buffer.alloc(0), this.associatedData(workflowId, encoding));
      return { metadata: { encoding }, data: plaintext };
    } catch (error) {
      throw new NotAuthenticError(messageOf(error), { cause: error });
    }
  }

  private associatedData(workflowId: string, encoding: Uint8Array): string {
    return JSON.stringify([this.namespace, workflowId, textOf(encoding)]);
  }
}

/**
 * The codec of a worker: it puts a `RejectedPayload` instead of each payload that is not authentic, and logs it.
 * Workflows, update validators and activities then reject what depends on it.
 */
export class WorkerCodec implements PayloadCodec {
  constructor(
    private readonly codec: EncryptingCodec,
    private readonly log: Logger,
  ) {}

  /** @throws Error as `EncryptingCodec` does */
  encode(payloads: Payload[], context?: PayloadContext): Promise<Payload[]> {
    return this.codec.encode(payloads, context);
  }

  /** @throws Error if a key cannot be read: Temporal repeats the task */
  decode(payloads: Payload[], context?: PayloadContext): Promise<Payload[]> {
    return Promise.all(payloads.map((payload) => this.decodeOne(payload, context)));
  }

  private async decodeOne(payload: Payload, context?: PayloadContext): Promise<Payload> {
    try {
      const [decoded] = await this.codec.decode([payload], context);
      if (!decoded) throw new NotAuthenticError('it has no content');
      return decoded;
    } catch (error) {
      if (!(error instanceof NotAuthenticError)) throw error;
      const reason = error.message;
      const workflowId = context?.workflowId;
      this.log.error({ workflowId, ...paymentIdOf(workflowId), reason }, 'payload not authentic');
      increment('lunas_payloads_rejected_total', { namespace: this.codec.namespace });
      return rejectedPayload(reason);
    }
  }
}

/** Whether the codec, or an imitation of it, encrypted the payload. */
export function isEncrypted({ metadata }: Pick<Payload, 'metadata'>): boolean {
  return textOf(metadata?.['encoding']) === ENCODING;
}

/** The workflow that an encrypted payload names. Only of one that was decrypted is it authentic. */
export function workflowIdOf({ metadata }: Pick<Payload, 'metadata'>): string {
  return textOf(metadata?.['workflow']);
}

/** A payload that reads as a `RejectedPayload`. */
export function rejectedPayload(reason: string): Payload {
  const rejected: RejectedPayload = { rejectedPayload: reason };
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(rejected)) };
}

function boundId(workflowId = ''): string {
  return workflowId.replace(SCHEDULED_TIME, '');
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}
