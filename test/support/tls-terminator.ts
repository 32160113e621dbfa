import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { freePort } from '../../src/local-stack/ports';
import type { CertificateFiles } from './certificates';

/** Accepts TLS with a client certificate on loopback, as a load balancer does, and forwards the data in clear. */
export interface TlsTerminator {
  readonly address: string;
  /** From now on only clients of these authorities connect. Connections stay. */
  accept(...authorities: readonly CertificateFiles[]): void;
  /** The common names of the certificates of the open connections. */
  clients(): string[];
  /** Resets all connections. */
  cut(): void;
  close(): Promise<void>;
}

export async function startTlsTerminator(
  targetAddress: string,
  own: CertificateFiles,
  ...authorities: readonly CertificateFiles[]
): Promise<TlsTerminator> {
  const target = new URL(`tcp://${targetAddress}`);
  const sockets = new Set<Socket>();
  const clients = new Map<Socket, string>();
  const track = <T extends Socket>(socket: T): T => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    return socket;
  };
  const contextOf = (accepted: readonly CertificateFiles[]) => ({
    cert: readFileSync(own.certificate),
    key: readFileSync(own.key),
    ca: accepted.map(({ certificate }) => readFileSync(certificate)),
  });
  const options = { ...contextOf(authorities), requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] };
  const server = createServer(options, (caller: TLSSocket) => {
    track(caller);
    clients.set(caller, String(caller.getPeerCertificate().subject.CN));
    caller.on('close', () => clients.delete(caller));
    const callee = track(connect(Number(target.port), target.hostname));
    caller.pipe(callee).pipe(caller);
    caller.on('close', () => callee.destroy());
    callee.on('close', () => caller.destroy());
  });
  server.on('tlsClientError', () => undefined);
  const port = await freePort();
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `127.0.0.1:${port}`,
    clients: () => [...clients.values()],
    accept: (...accepted) => server.setSecureContext(contextOf(accepted)),
    cut,
    async close() {
      cut();
      await once(server.close(), 'close');
    },
  };
}
