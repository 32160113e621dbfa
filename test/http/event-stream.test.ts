import { eventText } from '../../src/http/event-stream';

it.each([
  [{ retryMs: 2_000 }, 'retry: 2000\n\n'],
  [{ retryMs: 10_000, event: 'status', data: {} }, 'retry: 10000\nevent: status\ndata: {}\n\n'],
  [{ id: '3', event: 'status', data: { status: 'a\nb' } }, 'id: 3\nevent: status\ndata: {"status":"a\\nb"}\n\n'],
])('the text of %j', (event, text) => {
  expect(eventText(event)).toBe(text);
});
