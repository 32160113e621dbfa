import {
  Channel,
  connectivityState,
  type ChannelCredentials,
  type ChannelOptions,
  type ChannelInterface,
} from '@grpc/grpc-js';

/**
 * From the moment at which somebody wants the channel; one that hung gives the next one twice the time. grpc-js keeps the socket of a
 * connection that hangs until its other side lets go: they should not become many.
 */
const CONNECT_TIMEOUT_MS = { initialMs: 10_000, maxMs: 30_000 } as const;

/**
 * A gRPC channel that begins anew when it does not become ready. grpc-js waits without end for the first word of a server that has
 * accepted its connection (grpc/grpc-node#2785): a network that swallowed it once would be an outage until somebody restarts us.
 */
export class ReconnectingChannel implements ChannelInterface {
  private channel: Channel;
  private isAwaited = false;
  private connectTimeoutMs: number = CONNECT_TIMEOUT_MS.initialMs;

  constructor(
    private readonly target: string,
    private readonly credentials: ChannelCredentials,
    private readonly options: ChannelOptions,
  ) {
    this.channel = this.open();
  }

  createCall(...call: Parameters<ChannelInterface['createCall']>): ReturnType<ChannelInterface['createCall']> {
    if (!this.isAwaited) this.awaitReady(Date.now() + this.connectTimeoutMs);
    return this.channel.createCall(...call);
  }

  close(): void {
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
    // Its own connections: channels share those of the same address otherwise, also one that hangs.
    return new Channel(this.target, this.credentials, { ...this.options, 'grpc.use_local_subchannel_pool': 1 });
  }

  private awaitReady(untilMs: number): void {
    const state = this.channel.getConnectivityState(false);
    if (state === connectivityState.READY) this.connectTimeoutMs = CONNECT_TIMEOUT_MS.initialMs;
    this.isAwaited = state !== connectivityState.READY && state !== connectivityState.SHUTDOWN;
    if (!this.isAwaited) return;
    // Only now: a closed one that is asked to connect connects.
    this.channel.getConnectivityState(true);
    this.channel.watchConnectivityState(state, untilMs, (tooLate) => {
      if (!tooLate) return this.awaitReady(untilMs);
      this.isAwaited = false;
      const hung = state === connectivityState.CONNECTING;
      this.connectTimeoutMs = hung
        ? Math.min(2 * this.connectTimeoutMs, CONNECT_TIMEOUT_MS.maxMs)
        : CONNECT_TIMEOUT_MS.initialMs;
      this.channel.close();
      this.channel = this.open();
    });
  }
}
