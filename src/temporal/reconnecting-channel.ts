import {
  Channel,
  connectivityState,
  type ChannelCredentials,
  type ChannelInterface,
  type ChannelOptions,
} from '@grpc/grpc-js';
import type { TlsFiles } from './tls-files';

/**
 * From the first call on the channel. After a channel that hung, the timeout of the next one is doubled: grpc-js keeps
 * the socket of a hanging connection until the server closes it, and these sockets should stay few.
 */
const CONNECT_TIMEOUT_MS = { initialMs: 10_000, maxMs: 30_000 } as const;

/**
 * A gRPC channel that is replaced if it does not become ready. grpc-js waits without limit for the first frame of a
 * server that has accepted the connection (grpc/grpc-node#2785): one lost packet would be an outage until the process
 * restarts. It is also replaced if the certificates are: then the calls in flight complete on the old one. Without TLS,
 * delete this class when that issue is fixed.
 */
export class ReconnectingChannel implements ChannelInterface {
  private channel: Channel;
  private isAwaited = false;
  private connectTimeoutMs: number = CONNECT_TIMEOUT_MS.initialMs;
  private readonly unsubscribe: (() => void) | undefined;

  /** @param credentials called for each connection, because certificates are replaced */
  constructor(
    private readonly target: string,
    private readonly credentials: () => ChannelCredentials,
    private readonly options: ChannelOptions,
    tls: TlsFiles | undefined,
  ) {
    this.channel = this.open();
    this.unsubscribe = tls?.onReplaced(() => this.replace());
  }

  createCall(...call: Parameters<ChannelInterface['createCall']>): ReturnType<ChannelInterface['createCall']> {
    if (!this.isAwaited) this.awaitReady(Date.now() + this.connectTimeoutMs);
    return this.channel.createCall(...call);
  }

  close(): void {
    this.unsubscribe?.();
    this.channel.close();
  }

  getTarget(): string {
    return this.channel.getTarget();
  }

  getConnectivityState(connectOnce: boolean): connectivityState {
    return this.channel.getConnectivityState(connectOnce);
  }

  watchConnectivityState(...watch: Parameters<ChannelInterface['watchConnectivityState']>): void {
    this.channel.watchConnectivityState(...watch);
  }

  getChannelzRef(): ReturnType<ChannelInterface['getChannelzRef']> {
    return this.channel.getChannelzRef();
  }

  private open(): Channel {
    // Otherwise channels to the same address share a connection, also one that hangs.
    return new Channel(this.target, this.credentials(), { ...this.options, 'grpc.use_local_subchannel_pool': 1 });
  }

  private replace(): void {
    this.channel.close();
    this.channel = this.open();
  }

  private awaitReady(untilMs: number): void {
    const state = this.channel.getConnectivityState(false);
    if (state === connectivityState.READY) this.connectTimeoutMs = CONNECT_TIMEOUT_MS.initialMs;
    this.isAwaited = state !== connectivityState.READY && state !== connectivityState.SHUTDOWN;
    if (!this.isAwaited) return;
    // Not before the check for SHUTDOWN: this call would reconnect a closed channel.
    this.channel.getConnectivityState(true);
    this.channel.watchConnectivityState(state, untilMs, (tooLate) => {
      if (!tooLate) return this.awaitReady(untilMs);
      this.isAwaited = false;
      const hung = state === connectivityState.CONNECTING;
      this.connectTimeoutMs = hung
        ? Math.min(2 * this.connectTimeoutMs, CONNECT_TIMEOUT_MS.maxMs)
        : CONNECT_TIMEOUT_MS.initialMs;
      this.replace();
    });
  }
}
