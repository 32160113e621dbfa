import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../src/local-stack/ports';

/** A loopback TCP proxy that fails as networks do. Close it in `afterAll`. */
export interface TcpProxy {
  /** `127.0.0.1` and a port. */
  readonly address: string;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /** A black hole: connections stay, or are accepted, and nothing comes through any more. Those stay dead for good. */
  hang(): void;
  /** Lets new connections through again. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param targetAddress the `host:port` to which it passes everything on
 * @param givenPort where it listens, if not on any free port
 */
export async function startTcpProxy(targetAddress: string, givenPort?: number): Promise<TcpProxy> {
  const { hostname: host, port: targetPort } = new URL(`tcp://${targetAddress}`);
  const target = { host, port: Number(targetPort) };
  const sockets = new Set<Socket>();
  let isHanging = false;

  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer((caller) => {
    track(caller);
    if (isHanging) {
      caller.resume();
      return;
    }
    const callee = track(connect(target));
    caller.pipe(callee).pipe(caller);
    caller.on('close', () => callee.destroy());
    callee.on('close', () => caller.destroy());
  });
  const port = givenPort ?? (await freePort());
  const listen = async (): Promise<void> => {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  };
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.resetAndDestroy();
    if (server.listening) await once(server.close(), 'close');
  };

  await listen();
  return {
    address: `127.0.0.1:${port}`,
    cut: stop,
    hang() {
      isHanging = true;
      for (const socket of sockets) socket.unpipe().resume();
    },
    async restore() {
      isHanging = false;
      if (!server.listening) await listen();
    },
    close: stop,
  };
}
