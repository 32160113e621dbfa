import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** The files of a certificate and its key. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority, made by openssl. */
export async function createAuthority(directory: string, name: string): Promise<CertificateFiles> {
  const files = filesOf(directory, name);
  const output = ['-keyout', files.key, '-out', files.certificate];
  await run('openssl', ['req', '-x509', ...NEW_KEY, '-days', '2', '-subj', `/CN=${name}`, ...output]);
  return files;
}

/** A certificate for 127.0.0.1 and further host names, of a server or a client. */
export async function createCertificate(
  directory: string,
  name: string,
  authority: CertificateFiles,
  hosts: readonly string[] = [],
): Promise<CertificateFiles> {
  const files = filesOf(directory, name);
  const [request, extensions] = [`${files.certificate}.csr`, `${files.certificate}.ext`];
  const names = ['IP:127.0.0.1', ...['localhost', ...hosts].map((host) => `DNS:${host}`)].join(',');
  await writeFile(extensions, `subjectAltName=${names}\nbasicConstraints=CA:FALSE\n`);
  await run('openssl', ['req', '-new', ...NEW_KEY, '-subj', `/CN=${name}`, '-keyout', files.key, '-out', request]);
  const signer = ['-CA', authority.certificate, '-CAkey', authority.key, '-CAcreateserial', '-days', '2'];
  const output = ['-extfile', extensions, '-out', files.certificate];
  await run('openssl', ['x509', '-req', '-in', request, ...signer, ...output]);
  return files;
}

function filesOf(directory: string, name: string): CertificateFiles {
  return { certificate: path.join(directory, `${name}.pem`), key: path.join(directory, `${name}.key`) };
}
