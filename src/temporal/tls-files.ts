import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { credentials, type ChannelCredentials } from '@grpc/grpc-js';
import type { TLSConfig } from '@temporalio/client';

/** The files of `TEMPORAL_TLS_*`. An absent file of the authority means the system's authorities. */
export interface TlsPaths {
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the server's certificate must have. */
  readonly serverName?: string | undefined;
}

/** The contents of the files. */
export interface TlsMaterial {
  readonly ca: Buffer | undefined;
  readonly certificate: Buffer | undefined;
  readonly key: Buffer | undefined;
}

/** What a process presents to Temporal, and expects of it. The files may be replaced while the process runs. */
export class TlsFiles {
  readonly #paths: TlsPaths;
  readonly #listeners = new Set<() => void>();
  #material: TlsMaterial;

  constructor(paths: TlsPaths) {
    this.#paths = paths;
    const read = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path));
    this.#material = { ca: read(paths.ca), certificate: read(paths.certificate), key: read(paths.key) };
  }

  get serverName(): string | undefined {
    return this.#paths.serverName;
  }

  /** What new connections use. */
  get material(): TlsMaterial {
    return this.#material;
  }

  /** The TLS settings of Temporal's SDK. */
  get config(): TLSConfig {
    const { ca, certificate, key } = this.#material;
    return {
      ...(ca && { serverRootCACertificate: ca }),
      ...(certificate && key && { clientCertPair: { crt: certificate, key } }),
      ...(this.serverName !== undefined && { serverNameOverride: this.serverName }),
    };
  }

  /** The TLS credentials of gRPC. */
  get credentials(): ChannelCredentials {
    const { ca = null, certificate = null, key = null } = this.#material;
    return credentials.createSsl(ca, key, certificate);
  }

  /** What the files contain now. @throws Error if a file cannot be read, or certificate and key are of two pairs */
  async read(): Promise<TlsMaterial> {
    const read = async (path: string | undefined) => (path === undefined ? undefined : await readFile(path));
    const { ca, certificate, key } = this.#paths;
    const material = { ca: await read(ca), certificate: await read(certificate), key: await read(key) };
    requirePair(material);
    return material;
  }

  /** New connections use the material from now on. */
  replace(material: TlsMaterial): void {
    this.#material = material;
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener after each `replace`. @returns a function that ends that */
  onReplaced(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export function isSameMaterial(one: TlsMaterial, other: TlsMaterial): boolean {
  const isSame = (a: Buffer | undefined, b: Buffer | undefined) => a === b || (a && b && a.equals(b)) === true;
  return isSame(one.ca, other.ca) && isSame(one.certificate, other.certificate) && isSame(one.key, other.key);
}

/** @throws Error if a file is damaged, or certificate and key are of two pairs */
export function requirePair({ certificate, key }: Pick<TlsMaterial, 'certificate' | 'key'>): void {
  if (certificate === undefined || key === undefined) return;
  if (new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) return;
  throw new Error('the client certificate belongs to another key');
}
