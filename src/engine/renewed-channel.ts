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
const READY_WITHIN_MS = { first: 10_000, longest: 30_000 } as const;

/**
 * A gRPC channel that begins anew when it does not become ready. grpc-js waits without end for the first word of a server that has
 * accepted its connection (grpc/grpc-node#2785): a network that swallowed it once would be an outage until somebody restarts us.
 */
export class RenewedChannel implements ChannelInterface {
  private channel: Channel;
  private isAwaited = false;
  private readyWithinMs: number = READY_WITHIN_MS.first;

  constructor(
    private readonly target: string,
    private readonly credentials: ChannelCredentials,
    private readonly options: ChannelOptions,
  ) {
    this.channel = this.open();
  }

  createCall(...call: Parameters<ChannelInterface['createCall']>): ReturnType<ChannelInterface['createCall']> {
    if (!this.isAwaited) this.awaitReady(Date.now() + this.readyWithinMs);
    return this.channel.createCall(...call);
  }

  close(): void {
    this.channel.close();
  }

  getTarget(): string {
    return this.channel.getTarget();
  }

  getConnectivityState(tryToConnect: boolean): connectivityState {
    return this.channel.getConnectivityState(tryToConnect);
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
    if (state === connectivityState.READY) this.readyWithinMs = READY_WITHIN_MS.first;
    this.isAwaited = state !== connectivityState.READY && state !== connectivityState.SHUTDOWN;
    if (!this.isAwaited) return;
    // Only now: a closed one that is asked to connect connects.
    this.channel.getConnectivityState(true);
    this.channel.watchConnectivityState(state, untilMs, (tooLate) => {
      if (!tooLate) return this.awaitReady(untilMs);
      this.isAwaited = false;
      const hung = state === connectivityState.CONNECTING;
      this.readyWithinMs = hung ? Math.min(2 * this.readyWithinMs, READY_WITHIN_MS.longest) : READY_WITHIN_MS.first;
      this.channel.close();
      this.channel = this.open();
    });
  }
}
