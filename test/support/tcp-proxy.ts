import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../src/local-stack/ports';

/** A loopback TCP proxy that simulates network failures. Close it in `afterAll`. */
export interface TcpProxy {
  /** `127.0.0.1:<port>`. */
  readonly address: string;
  /** Resets all connections and rejects new ones. */
  cut(): Promise<void>;
  /** Connections stay open, and new ones are accepted, but no data passes. These connections never recover. */
  hang(): void;
  /** New connections work again. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param targetAddress the `host:port` that receives the data
 * @param givenPort the port of the proxy; default: any free port
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
