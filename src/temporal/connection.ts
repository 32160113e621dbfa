import { credentials, type ChannelCredentials, type ClientOptions } from '@grpc/grpc-js';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import type { Config } from '../config';
import { EncryptingCodec, type PayloadKeys } from './payload-codec';
import type { ProbeTarget } from './probe-connection';
import { ReconnectingChannel } from './reconnecting-channel';
import { TlsFiles } from './tls-files';

/** How a process connects to Temporal: the dev server, a cluster, or Temporal Cloud. */
export interface TemporalTarget {
  readonly address: string;
  readonly namespace: string;
  readonly security: { readonly tls?: TlsFiles; readonly apiKey?: string };
}

/**
 * @param address `TEMPORAL_ADDRESS`, or the address of the local stack's server
 * @throws Error if a file of the certificates cannot be read
 */
export function temporalTarget(config: Config, address: string): TemporalTarget {
  return { address, namespace: config.TEMPORAL_NAMESPACE, security: securityOf(config) };
}

function securityOf(config: Config): TemporalTarget['security'] {
  const { TEMPORAL_API_KEY, TEMPORAL_TLS_CA, TEMPORAL_TLS_CERT, TEMPORAL_TLS_KEY, TEMPORAL_TLS_SERVER_NAME } = config;
  const wantsTls = [TEMPORAL_API_KEY, TEMPORAL_TLS_CA, TEMPORAL_TLS_CERT, TEMPORAL_TLS_SERVER_NAME].some(Boolean);
  if (!wantsTls) return {};
  const tls = new TlsFiles({
    ca: TEMPORAL_TLS_CA,
    certificate: TEMPORAL_TLS_CERT,
    key: TEMPORAL_TLS_KEY,
    serverName: TEMPORAL_TLS_SERVER_NAME,
  });
  return { tls, ...(TEMPORAL_API_KEY !== undefined && { apiKey: TEMPORAL_API_KEY }) };
}

/** The options of a connection of Temporal's SDK, with the certificates of now. */
export function connectionOptions({
  address,
  security: { tls, apiKey },
}: TemporalTarget): Pick<ConnectionOptions, 'address' | 'tls'> & { readonly apiKey?: string } {
  return { address, ...(tls && { tls: tls.config }), ...(apiKey !== undefined && { apiKey }) };
}

/** The target for `connectionFailure`. */
export function probeTarget({ address, security: { tls } }: TemporalTarget): ProbeTarget {
  return { address, ...(tls && { tls }) };
}

/** The credentials for gRPC. */
export function channelCredentials({ security: { tls } }: TemporalTarget): ChannelCredentials {
  return tls ? tls.credentials : credentials.createInsecure();
}

/**
 * A connection to a server that vanished is closed after 17 s; with the SDK's defaults after 45 s. Temporal's servers
 * reject keepalive pings at intervals below 10 s.
 */
const RECONNECTION: ClientOptions = {
  'grpc.keepalive_time_ms': 12_000,
  'grpc.keepalive_timeout_ms': 5_000,
  // grpc-js would wait for up to two minutes, and the work of an outage is done only after that.
  'grpc.max_reconnect_backoff_ms': 2_000,
};

/** A client with its own connection. It connects at its first call, so that a process starts without Temporal. */
export function connectClient(target: TemporalTarget, keys: PayloadKeys): Client {
  const connection = Connection.lazy({ ...connectionOptions(target), channelArgs: channelArgs(target) });
  const codec = new EncryptingCodec(keys, target.namespace);
  return new Client({ connection, namespace: target.namespace, dataConverter: { payloadCodecs: [codec] } });
}

function channelArgs(target: TemporalTarget): ClientOptions {
  const { tls } = target.security;
  return {
    ...RECONNECTION,
    channelFactoryOverride: (name, _, options) =>
      new ReconnectingChannel(name, () => channelCredentials(target), options, tls),
  };
}
