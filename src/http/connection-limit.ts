import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { inNetworks, networkOf } from '../lib/networks';
import { canonicalAddress } from './auth/client-address';

/** A customer of a network provider may have a /48, with 65,536 networks of /64. */
const IPV6_GROUPS = 3;

/** Limits the connections of each client to all listeners of a process. Further ones are closed. */
export class ConnectionLimit {
  readonly #open = new Map<string, number>();

  constructor(private readonly maxPerClient: number) {}

  /**
   * Call it before the server listens.
   * @param proxies addresses and networks whose connections are those of many clients
   */
  limit(server: Server, proxies: readonly string[]): void {
    const isExempt = inNetworks(proxies);
    server.prependListener('connection', (socket: Socket) => {
      const address = canonicalAddress(socket.remoteAddress ?? '');
      if (isExempt(address)) return;
      this.#count(networkOf(address, IPV6_GROUPS), socket);
    });
  }

  #count(client: string, socket: Socket): void {
    const open = this.#open.get(client) ?? 0;
    if (open >= this.maxPerClient) return void socket.destroy();
    this.#open.set(client, open + 1);
    socket.once('close', () => {
      const left = (this.#open.get(client) ?? 1) - 1;
      if (left === 0) this.#open.delete(client);
      else this.#open.set(client, left);
    });
  }
}
