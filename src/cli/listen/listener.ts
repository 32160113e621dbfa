import { setTimeout as sleep } from 'node:timers/promises';
import type { EventSourceMessage } from 'eventsource-parser';
import { z } from 'zod';
import { receivesEvent, type WebhookEvent } from '../../domain/events';
import { messageOf, UserError } from '../../errors';
import { parseJson } from '../../lib/parse-json';
import { createWebhookSender, TIMED_OUT, type WebhookAttempt } from '../../webhooks/send';
import { OTHER_ADDRESS, readEventStream } from './event-stream';
import type { ListenState } from './listen-state';
import type { ListenReport, StreamedDelivery } from './report';

/** The user chose the receiver: any address, at any port. */
const ANY_RECEIVER = { environment: 'sandbox', allowedNetworks: ['0.0.0.0/0', '::/0'] } as const;

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 5_000;

const orderSchema = z.object({ merchant_reference_id: z.string().nullish() });

const deliverySchema = z
  .object({
    delivery_id: z.string(),
    event: z.string(),
    payment_id: z.string().optional(),
    payout_id: z.string().optional(),
    invoice_id: z.string().optional(),
    is_redelivery: z.boolean(),
    body: z.string(),
  })
  .transform(({ delivery_id: deliveryId, is_redelivery: isRedelivery, event, body, ...subject }) => ({
    deliveryId,
    event,
    subject,
    merchantReferenceId: orderSchema.parse(parseJson(body)).merchant_reference_id ?? null,
    isRedelivery,
    body,
  }));

const CANNOT_CONTINUE =
  'The API cannot continue after the last event, which is more than three days old or of another database: events of ' +
  'the meantime may be missing.';

/** The receiver has probably rejected the signature. */
const SIGNATURE_REJECTED: ReadonlySet<number | null> = new Set([401, 403]);

interface ListenerOptions {
  readonly apiUrl: string;
  readonly key: string;
  readonly forwardTo: string;
  /** Empty: those of payments. */
  readonly events: readonly WebhookEvent[];
  readonly state: ListenState;
  readonly report: ListenReport;
}

/**
 * Forwards events one after another, so those of each payment are in order. The cursor is saved after each event. So an
 * event is forwarded again if this process is killed between the response and the save, and none is lost.
 */
export class Listener {
  readonly #sender = createWebhookSender(ANY_RECEIVER);
  #isReady = false;
  #isSecretReported = false;

  constructor(private readonly options: ListenerOptions) {}

  /** Until the signal. @throws UserError if the API rejects the key */
  async run(signal: AbortSignal): Promise<void> {
    const { apiUrl, report } = this.options;
    const outage = new Outage(report);
    try {
      while (!signal.aborted) {
        try {
          if (await this.#readStream(signal, () => outage.end('Connected again.'))) continue;
          await outage.wait('The API ended the connection; connecting again.', signal);
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof UserError) throw error;
          const text = `No event stream from ${apiUrl} (${messageOf(error)}); trying again. ${OTHER_ADDRESS}`;
          await outage.wait(text, signal);
        }
      }
    } finally {
      await this.#sender.close();
    }
  }

  /** @returns whether the stream has reached its normal end, so that nothing is wrong */
  async #readStream(signal: AbortSignal, onMessage: () => void): Promise<boolean> {
    const { apiUrl, key, state } = this.options;
    let isEnd = false;
    for await (const message of readEventStream({ apiUrl, key, cursor: state.cursor }, signal)) {
      onMessage();
      if (message.event === 'ready') this.#reportReady(message);
      if (message.event === 'delivery') await this.#forward(deliverySchema.parse(parseJson(message.data)), signal);
      if (message.id !== undefined && message.id !== state.cursor) await state.save(message.id);
      isEnd = message.event === 'end';
    }
    return isEnd;
  }

  #reportReady({ id }: EventSourceMessage): void {
    const { forwardTo, state, report } = this.options;
    if (!this.#isReady) report.ready(forwardTo, state.secret);
    this.#isReady = true;
    if (state.cursor !== null && state.cursor !== id) report.note(CANNOT_CONTINUE);
  }

  /** Resolves when the receiver has the event, or does not want it. @throws Error after the signal */
  async #forward(delivery: StreamedDelivery, signal: AbortSignal): Promise<void> {
    const { events, forwardTo, report } = this.options;
    if (!receivesEvent(events, delivery.event)) return;
    const outage = new Outage(report);
    for (;;) {
      const attempt = await this.#send(delivery, signal);
      signal.throwIfAborted();
      if (attempt.statusCode !== null || attempt.failure === TIMED_OUT) {
        outage.end(`${forwardTo} responds again.`);
        report.forwarded(delivery, attempt);
        if (SIGNATURE_REJECTED.has(attempt.statusCode)) this.#reportSecret();
        return;
      }
      await outage.wait(`${forwardTo} cannot be reached (${attempt.failure}); sending again until it can.`, signal);
    }
  }

  /** Once, although each event is rejected. */
  #reportSecret(): void {
    const { forwardTo, state, report } = this.options;
    if (!this.#isSecretReported) {
      report.note(
        `${forwardTo} rejects the webhooks. Verify them with the secret of this command, not that of an endpoint: ` +
          `start your server with WEBHOOK_SECRET=${state.secret}, or what it calls this variable.`,
      );
    }
    this.#isSecretReported = true;
  }

  #send({ deliveryId, event, body }: StreamedDelivery, signal: AbortSignal): Promise<WebhookAttempt> {
    const { forwardTo: url, state } = this.options;
    return this.#sender.send({ deliveryId, event, body, url, secrets: [state.secret] }, signal);
  }
}

/** Reports once that something is not reachable, and once that it is again. */
class Outage {
  #delayMs = FIRST_DELAY_MS;

  constructor(private readonly report: ListenReport) {}

  /** Resolves after a growing delay, or at the signal. */
  async wait(text: string, signal: AbortSignal): Promise<void> {
    if (this.#delayMs === FIRST_DELAY_MS) this.report.note(text);
    await sleep(this.#delayMs, undefined, { signal }).catch(() => undefined);
    this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
  }

  end(text: string): void {
    if (this.#delayMs !== FIRST_DELAY_MS) this.report.note(text);
    this.#delayMs = FIRST_DELAY_MS;
  }
}
