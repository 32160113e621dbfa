import { authenticate, type KeyDependency } from '../../http/auth/authenticate';
import { StreamBody } from '../../http/endpoint';
import { EVENT_STREAM_HEADERS } from '../../http/event-stream';
import type { ApiDependencies } from '../dependencies';
import { merchantStream } from '../endpoint';

type StreamDependencies = Pick<ApiDependencies, 'webhookStreams' | 'apiKeys' | KeyDependency>;

/**
 * The merchant's events as server-sent events, for `lunas listen`. `Last-Event-ID` is the cursor: the stream continues
 * after it. Without one, with one of another database, or with an old one, it begins now. Its first event, `ready`, has
 * the cursor. After 15 minutes it ends with the event `end`: the reader connects again.
 */
export const streamWebhooks = merchantStream({
  method: 'get',
  path: '/webhooks/stream',
  isUnobserved: true,
  scope: 'read',
  // Nothing is awaited between the reservation and the response, whose end returns the slot.
  async handler(dependencies: StreamDependencies, request, { keyId, merchantId }) {
    const { webhookStreams } = dependencies;
    const slot = webhookStreams.reserve({ keyId, merchantId });
    const lastEventId = request.get('last-event-id');
    return {
      status: 200,
      headers: EVENT_STREAM_HEADERS,
      body: new StreamBody((response) => {
        const isAuthorized = () =>
          authenticate(dependencies, request, response, 'read').then(
            () => true,
            () => false,
          );
        webhookStreams.open(slot, { lastEventId, isAuthorized }, response);
      }),
    };
  },
});
