import type { Request } from 'express';
import { findStreamEnd, isOfThisDatabase, type StreamCursor } from '../../db/queries/find-webhook-stream';
import type { Queryable } from '../../db/connection/pool';
import { authenticate, type KeyDependency } from '../../http/auth/authenticate';
import { StreamBody } from '../../http/endpoint';
import type { ApiDependencies } from '../dependencies';
import { merchantStream } from '../endpoint';
import { parseCursor } from './stream-cursor';

type StreamDependencies = Pick<ApiDependencies, 'db' | 'webhookStreams' | 'apiKeys' | KeyDependency>;

/**
 * The merchant's events as server-sent events, for `lunas listen`. `Last-Event-ID` is the cursor: the stream continues
 * after it. Without one, or with one of another database, it begins now. Its first event, `ready`, has
 * the cursor.
 */
export const streamWebhooks = merchantStream({
  method: 'get',
  path: '/webhooks/stream',
  isUnobserved: true,
  scope: 'read',
  async handler(dependencies: StreamDependencies, request, { keyId, merchantId }) {
    const { db, webhookStreams } = dependencies;
    webhookStreams.requirePlace(keyId);
    const cursor = (await knownCursor(db, request)) ?? (await findStreamEnd(db));
    return {
      status: 200,
      // A buffering proxy would hold the events back.
      headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' },
      body: new StreamBody((response) => {
        const isAuthorized = () =>
          authenticate(dependencies, request, response, 'read').then(
            () => true,
            () => false,
          );
        webhookStreams.add({ keyId, merchantId, cursor, isAuthorized }, response);
      }),
    };
  },
});

async function knownCursor(db: Queryable, request: Request): Promise<StreamCursor | undefined> {
  const cursor = parseCursor(request.get('last-event-id') ?? '');
  return cursor && (await isOfThisDatabase(db, cursor)) ? cursor : undefined;
}
