import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import type { DerivedKeys } from '../crypto/derived-keys';
import type { RejectedPayload } from '../domain/rejected-payload';
import { messageOf } from '../errors';
import type { Logger } from '../observability/logger';
import { paymentIdOf } from './log-payment';

/** Keys of 32 bytes, by the id of the master key that they are derived from. */
export interface PayloadKeys {
  /** Encrypts. */
  current(): { readonly keyId: string; readonly key: KeyObject };
  /** Decrypts; undefined if there is no such key. */
  find(keyId: string): Promise<KeyObject | undefined>;
}

const LABEL = 'lunas temporal payloads';

/** Also those of retired master keys, which open workflows were started with. */
export function payloadKeys(derivedKeys: DerivedKeys): PayloadKeys {
  return { current: () => derivedKeys.current(LABEL), find: (keyId) => derivedKeys.find(LABEL, keyId) };
}

/** For a client that sends no payload. */
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

const ALGORITHM = 'aes-256-gcm';
const ENCODING = 'binary/encrypted';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A schedule appends the time to the id of its workflow. Results pass from one such workflow to the next. */
const SCHEDULED_TIME = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/**
 * Encrypts and authenticates what Temporal stores: arguments, results and summaries. Each payload is bound to its
 * namespace, its workflow id and its encoding, which are the associated data. The workflow id is also in the metadata,
 * in clear: a codec server has no other way to learn it. Where the SDK names the workflow, the two must be the same.
 * Search attributes are not encrypted.
 */
export class EncryptingCodec implements PayloadCodec {
  constructor(
    private readonly keys: PayloadKeys,
    private readonly namespace: string,
  ) {}

  /** @throws Error if a payload has metadata besides its encoding */
  encode(payloads: Payload[], context?: PayloadContext): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => this.encrypt(payload, boundId(context?.workflowId))));
  }

  /** @throws Error if a payload is not encrypted, or not authentic */
  decode(payloads: Payload[], context?: PayloadContext): Promise<Payload[]> {
    return Promise.all(payloads.map((payload) => this.decrypt(payload, context)));
  }

  private encrypt({ metadata, data }: Payload, workflowId: string): Payload {
    const { encoding, ...others } = metadata ?? {};
    if (!encoding || Object.keys(others).length > 0)
      throw new TypeError('A payload must have an encoding, and no more');
    const { keyId, key } = this.keys.current();
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(this.associatedData(workflowId, encoding));
    const ciphertext = Buffer.concat([cipher.update(data ?? Buffer.alloc(0)), cipher.final()]);
    return {
      metadata: {
        encoding: Buffer.from(ENCODING),
        content: encoding,
        key: Buffer.from(keyId),
        workflow: Buffer.from(workflowId),
      },
      data: Buffer.concat([iv, cipher.getAuthTag(), ciphertext]),
    };
  }

  private async decrypt(payload: Payload, context?: PayloadContext): Promise<Payload> {
    const { metadata, data } = payload;
    if (!isEncrypted(payload)) throw new Error('it is not encrypted');
    const keyId = textOf(metadata?.['key']);
    const key = await this.keys.find(keyId);
    if (!key) throw new Error(`it is encrypted with the key ${keyId}, which this process does not have`);
    const workflowId = textOf(metadata?.['workflow']);
    if (context?.workflowId !== undefined && workflowId !== boundId(context.workflowId)) {
      throw new Error(`it belongs to the workflow ${workflowId}`);
    }
    const encoding = metadata?.['content'] ?? Buffer.alloc(0);
    const bytes = Buffer.from(data ?? []);
    if (bytes.length < IV_BYTES + TAG_BYTES) throw new Error('it is too short');
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), options);
    decipher.setAAD(this.associatedData(workflowId, encoding));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const plaintext = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    return { metadata: { encoding }, data: plaintext };
  }

  private associatedData(workflowId: string, encoding: Uint8Array): Buffer {
    return Buffer.from(JSON.stringify([this.namespace, workflowId, textOf(encoding)]));
  }
}

/**
 * The codec of a worker: it puts a `RejectedPayload` in the place of each payload that is not authentic, and logs it.
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

  decode(payloads: Payload[], context?: PayloadContext): Promise<Payload[]> {
    return Promise.all(payloads.map((payload) => this.decodeOne(payload, context)));
  }

  private async decodeOne(payload: Payload, context?: PayloadContext): Promise<Payload> {
    try {
      const [decoded] = await this.codec.decode([payload], context);
      if (!decoded) throw new Error('it has no content');
      return decoded;
    } catch (error) {
      const reason = messageOf(error);
      const workflowId = context?.workflowId;
      this.log.error({ workflowId, ...paymentIdOf(workflowId), reason }, 'payload not authentic');
      return rejectedPayload(reason);
    }
  }
}

/** Whether the codec, or an imitation of it, encrypted the payload. */
export function isEncrypted({ metadata }: Pick<Payload, 'metadata'>): boolean {
  return textOf(metadata?.['encoding']) === ENCODING;
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
