import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { z } from 'zod';

const optionsSchema = z.object({ challenge: z.string(), user: z.object({ id: z.string() }).optional() });

const FLAGS = { present: 0x01, verified: 0x04, backupEligible: 0x08, backedUp: 0x10, attested: 0x40 };
const base64Url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();

/** Where and how an authenticator signs. The defaults are those of a correct one. */
interface Circumstances {
  readonly origin?: string;
  readonly rpId?: string;
  readonly isVerified?: boolean;
  readonly isBackedUp?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
}

/** A passkey in software: P-256, as https://www.w3.org/TR/webauthn-3/ has it. */
export class SoftwareAuthenticator {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly credentialId = base64Url(randomBytes(16));
  #userHandle = '';
  #counter = 0;

  constructor(private readonly origin: string) {}

  /** Responds to the options of a registration. @returns JSON */
  create(options: string, circumstances: Circumstances = {}): string {
    const { challenge, user } = optionsSchema.parse(JSON.parse(options));
    this.#userHandle = user?.id ?? '';
    const id = Buffer.from(this.credentialId, 'base64url');
    const { x, y } = z.object({ x: z.string(), y: z.string() }).parse(this.#keys.publicKey.export({ format: 'jwk' }));
    const publicKey = isoCBOR.encode(
      new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
      ]),
    );
    const attested = [Buffer.alloc(16), Buffer.from([0, id.length]), id, Buffer.from(publicKey)];
    const authData = Buffer.concat([this.#header(circumstances, FLAGS.attested), ...attested]);
    const attestation = new Map<string, string | Map<string, string> | Uint8Array>([
      ['fmt', 'none'],
      ['attStmt', new Map<string, string>()],
      ['authData', new Uint8Array(authData)],
    ]);
    return this.#respond({
      clientDataJSON: this.#clientData('webauthn.create', challenge, circumstances),
      attestationObject: base64Url(isoCBOR.encode(attestation)),
      transports: ['internal', 'hybrid'],
    });
  }

  /** Signs the challenge of a sign-in or a step-up. @returns JSON */
  get(options: string, circumstances: Circumstances = {}): string {
    const { challenge } = optionsSchema.parse(JSON.parse(options));
    const authenticatorData = this.#header(circumstances, 0);
    const clientDataJSON = this.#clientData('webauthn.get', challenge, circumstances);
    const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    return this.#respond({
      clientDataJSON,
      authenticatorData: base64Url(authenticatorData),
      signature: base64Url(sign('sha256', signed, this.#keys.privateKey)),
      userHandle: circumstances.userHandle ?? this.#userHandle,
    });
  }

  #header({ rpId, isVerified = true, isBackedUp = false, counter }: Circumstances, extraFlags: number): Buffer {
    this.#counter = counter ?? this.#counter + 1;
    const backup = isBackedUp ? FLAGS.backupEligible | FLAGS.backedUp : 0;
    const flags = FLAGS.present | (isVerified ? FLAGS.verified : 0) | backup | extraFlags;
    const tail = Buffer.alloc(5);
    tail.writeUInt8(flags, 0);
    tail.writeUInt32BE(this.#counter, 1);
    return Buffer.concat([sha256(rpId ?? new URL(this.origin).hostname), tail]);
  }

  #clientData(type: string, challenge: string, { origin = this.origin }: Circumstances): string {
    return base64Url(Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })));
  }

  #respond(response: object): string {
    const { credentialId: id } = this;
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });
  }
}
