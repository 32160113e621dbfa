import { connect, type SecureClientSessionOptions } from 'node:http2';
import { codeOf, messageOf } from '../errors';
import type { TlsMaterial } from './tls-files';

/** Where to connect. Without `tls` the connection is in clear. */
export interface ProbeTarget {
  readonly address: string;
  readonly tls?: { readonly serverName: string | undefined; readonly material: TlsMaterial };
}

export interface ConnectionFailure {
  readonly message: string;
  /** One of the two rejects the certificate of the other: a wrong setting, and no outage. */
  readonly isCertificate: boolean;
}

const PROBE_TIMEOUT_MS = 3_000;

/** Codes of OpenSSL and Node.js for a certificate that is rejected, here or there. */
const CERTIFICATE_ERROR = /^(?:CERT_|ERR_TLS_|ERR_SSL_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|INVALID_CA|HOSTNAME_MISMATCH)/;

/**
 * Why no HTTP/2 connection to the server can be made; null if one can. A server that rejects our certificate reports
 * that after the handshake of TLS 1.3, so this waits for the server's first frame.
 */
export async function connectionFailure({ address, tls }: ProbeTarget): Promise<ConnectionFailure | null> {
  let session: ReturnType<typeof connect> | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    const opened = tls ? connect(`https://${address}`, optionsOf(tls)) : connect(`http://${address}`);
    session = opened;
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no response in ${PROBE_TIMEOUT_MS / 1000} s`)), PROBE_TIMEOUT_MS);
      opened.once('remoteSettings', () => resolve());
      opened.on('error', reject);
      opened.once('close', () => reject(new Error('the server closed the connection')));
    });
    return null;
  } catch (error) {
    return { message: messageOf(error), isCertificate: CERTIFICATE_ERROR.test(codeOf(error) ?? '') };
  } finally {
    clearTimeout(timer);
    session?.destroy();
  }
}

function optionsOf({ serverName, material }: NonNullable<ProbeTarget['tls']>): SecureClientSessionOptions {
  const { ca, certificate, key } = material;
  return {
    ...(ca && { ca }),
    ...(certificate && { cert: certificate }),
    ...(key && { key }),
    ...(serverName !== undefined && { servername: serverName }),
  };
}
