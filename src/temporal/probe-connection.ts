import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
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

/** What an HTTP/2 client sends first (RFC 9113, 3.4): the preface and an empty SETTINGS frame. */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

/**
 * Why no HTTP/2 connection to the server can be made; null if one can. With TLS 1.3 a client learns only after its
 * handshake that its certificate is rejected, so this waits for the server's first bytes.
 */
export async function connectionFailure(target: ProbeTarget): Promise<ConnectionFailure | null> {
  let socket: Socket | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    const opened = open(target);
    socket = opened;
    await new Promise<void>((resolve, reject) => {
      const fail = (reason: string) => () => reject(new Error(reason));
      timer = setTimeout(fail(`no response in ${PROBE_TIMEOUT_MS / 1000} s`), PROBE_TIMEOUT_MS);
      opened.once('data', () => resolve());
      opened.on('error', reject);
      const rejected = target.tls ? ', as a server does that rejects the client certificate' : '';
      opened.once('close', fail(`it closes the connection${rejected}`));
      opened.write(PREFACE);
    });
    return null;
  } catch (error) {
    return { message: reasonOf(error), isCertificate: CERTIFICATE_ERROR.test(codeOf(error) ?? '') };
  } finally {
    clearTimeout(timer);
    socket?.destroy();
  }
}

/** OpenSSL's message has addresses of its sources around the reason. */
function reasonOf(error: unknown): string {
  const hasReason = typeof error === 'object' && error !== null && 'reason' in error;
  return hasReason && typeof error.reason === 'string' ? error.reason : messageOf(error);
}

function open({ address, tls }: ProbeTarget): Socket {
  const { hostname: host, port } = new URL(`tcp://${address}`);
  if (!tls) return connect({ host, port: Number(port) });
  const { serverName, material } = tls;
  return connectTls({
    host,
    port: Number(port),
    ALPNProtocols: ['h2'],
    ...(material.ca && { ca: material.ca }),
    ...(material.certificate && { cert: material.certificate }),
    ...(material.key && { key: material.key }),
    ...(serverName !== undefined && { servername: serverName }),
  });
}
