import { readFileSync } from 'node:fs';
import type { ClientOptions } from '@grpc/grpc-js';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import type { Config } from '../config';
import { EncryptingCodec, type PayloadKeys } from './payload-codec';
import { ReconnectingChannel } from './reconnecting-channel';

/** How a process connects to Temporal: the dev server, a cluster, or Temporal Cloud. */
export interface TemporalTarget {
  readonly address: string;
  readonly namespace: string;
  readonly security: Pick<ConnectionOptions, 'tls'> & { readonly apiKey?: string };
}

/** @param address `TEMPORAL_ADDRESS`, or the address of the local stack's server */
export function temporalTarget(config: Config, address: string): TemporalTarget {
  return { address, namespace: config.TEMPORAL_NAMESPACE, security: securityOf(config) };
}

function securityOf(config: Config): TemporalTarget['security'] {
  const { TEMPORAL_API_KEY, TEMPORAL_TLS_CA, TEMPORAL_TLS_CERT, TEMPORAL_TLS_KEY, TEMPORAL_TLS_SERVER_NAME } = config;
  const wantsTls = [TEMPORAL_API_KEY, TEMPORAL_TLS_CA, TEMPORAL_TLS_CERT, TEMPORAL_TLS_SERVER_NAME].some(Boolean);
  if (!wantsTls) return {};
  return {
    tls: {
      ...(TEMPORAL_TLS_CA && { serverRootCACertificate: readFileSync(TEMPORAL_TLS_CA) }),
      ...(TEMPORAL_TLS_SERVER_NAME && { serverNameOverride: TEMPORAL_TLS_SERVER_NAME }),
      ...(TEMPORAL_TLS_CERT &&
        TEMPORAL_TLS_KEY && {
          clientCertPair: { crt: readFileSync(TEMPORAL_TLS_CERT), key: readFileSync(TEMPORAL_TLS_KEY) },
        }),
    },
    ...(TEMPORAL_API_KEY && { apiKey: TEMPORAL_API_KEY }),
  };
}

/**
 * A connection to a server that vanished is closed after 17 s; with the SDK's defaults after 45 s. Temporal's servers
 * reject keepalive pings at intervals below 10 s.
 */
const CHANNEL_ARGS: ClientOptions = {
  'grpc.keepalive_time_ms': 12_000,
  'grpc.keepalive_timeout_ms': 5_000,
  // grpc-js would wait for up to two minutes, and the work of an outage is done only after that.
  'grpc.max_reconnect_backoff_ms': 2_000,
  channelFactoryOverride: (target, credentials, options) => new ReconnectingChannel(target, credentials, options),
};

/** A client with its own connection. It connects at its first call, so that a process starts without Temporal. */
export function connectClient(target: TemporalTarget, keys: PayloadKeys): Client {
  const connection = Connection.lazy({ address: target.address, channelArgs: CHANNEL_ARGS, ...target.security });
  const codec = new EncryptingCodec(keys, target.namespace);
  return new Client({ connection, namespace: target.namespace, dataConverter: { payloadCodecs: [codec] } });
}
