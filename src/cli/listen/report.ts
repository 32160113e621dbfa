import type { WebhookAttempt } from '../../webhooks/send';

/** An event as the stream of the API has it. */
export interface StreamedDelivery {
  readonly deliveryId: string;
  readonly event: string;
  /** The id of what it is about, under its name in the stream. */
  readonly subject: Readonly<Partial<Record<'payment_id' | 'payout_id' | 'invoice_id', string | undefined>>>;
  /** The merchant's order ID; null: the event has none. */
  readonly merchantReferenceId: string | null;
  readonly isRedelivery: boolean;
  readonly body: string;
}

/** What the user sees. Notes go to stderr, so that stdout has only events. */
export interface ListenReport {
  ready(forwardTo: string, secret: string): void;
  forwarded(delivery: StreamedDelivery, attempt: WebhookAttempt): void;
  note(text: string): void;
}

interface Output {
  write(text: string): unknown;
}

/** One line for each event: time, event, what it is about, order, status code or failure, duration. */
export function textReport(stdout: Output, stderr: Output): ListenReport {
  return {
    ready(forwardTo, secret) {
      stdout.write(`Ready: events go to ${forwardTo}, signed with ${secret} (Ctrl-C ends).\n`);
    },
    forwarded({ event, subject, merchantReferenceId, isRedelivery }, { startedAt, statusCode, failure, durationMs }) {
      const result = statusCode === null ? `failed: ${failure}` : String(statusCode);
      const again = isRedelivery ? '  redelivery' : '';
      const ids = [...Object.values(subject), merchantReferenceId].filter((id) => id !== null).join('  ');
      stdout.write(`${startedAt.toISOString()}  ${event.padEnd(25)}  ${ids}  ${result}  ${durationMs} ms${again}\n`);
    },
    note: (text) => stderr.write(`${text}\n`),
  };
}

/** One line of JSON for each event, after one with the secret. */
export function jsonReport(stdout: Output, stderr: Output): ListenReport {
  const print = (document: object) => stdout.write(`${JSON.stringify(document)}\n`);
  return {
    ready: (forwardTo, secret) => print({ secret, forward_to: forwardTo }),
    forwarded({ deliveryId, event, subject, isRedelivery, body }, { startedAt, statusCode, failure, durationMs }) {
      print({
        time: startedAt.toISOString(),
        event,
        ...subject,
        delivery_id: deliveryId,
        is_redelivery: isRedelivery,
        status_code: statusCode,
        failure,
        duration_ms: durationMs,
        payload: JSON.parse(body),
      });
    },
    note: (text) => stderr.write(`${text}\n`),
  };
}
