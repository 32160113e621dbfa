import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { WEBHOOK_EVENTS } from '../../domain/events';
import { WEBHOOK_EXPANSIONS } from '../../domain/expansions';
import { writeRunFile } from '../../local-stack/run-file';
import { requireDone } from '../../services/operations/require-done';
import { createEndpoint } from '../../services/webhooks/create-endpoint';
import { deleteEndpoint } from '../../services/webhooks/delete-endpoint';
import { disableEndpoint } from '../../services/webhooks/disable-endpoint';
import { enableEndpoint } from '../../services/webhooks/enable-endpoint';
import { pingEndpoint } from '../../services/webhooks/ping-endpoint';
import { redeliver, requireRedelivered } from '../../services/webhooks/redeliver';
import { rotateSecret } from '../../services/webhooks/rotate-secret';
import { setEndpoint } from '../../services/webhooks/set-endpoint';
import { DELIVERY_STATUSES, listDeliveries, type ListedDelivery } from '../../services/webhooks/webhook-deliveries';
import { listEndpoints, type WebhookEndpoint } from '../../services/webhooks/webhook-endpoints';
import type { Redelivery } from '../../services/webhooks/webhook-redelivery';
import { findNewestSecret } from '../../services/webhooks/webhook-secrets';
import { createWebhookSender } from '../../webhooks/send';
import { sendPing } from '../../webhooks/send-ping';
import { newWebhookSecret } from '../../webhooks/sign';
import type { CommandContext } from '../command-context';
import { howToApprove } from '../error-hints';
import { collect, type LunasCommand } from '../lunas-command';
import { durationFrom, id, isPeriod, joinOptions, limit, oneOf, timestamp } from '../option-schemas';
import { formatFields, formatTable, type CommandResult } from '../output';
import { receiverRules } from '../receiver-rules';
import { runOperation } from '../run-operation';

const EXPAND_TEXT = `add to the bodies of payments: ${joinOptions(WEBHOOK_EXPANSIONS)}; repeat for more`;
const SECRET_SHOWN_ONCE = 'Keep the secret now: it is not shown again.';

/** What is sent to an operation without a choice. */
const on = (endpointId: string) => ({ path: { endpoint: endpointId }, input: {} });

export function defineWebhooks(webhooks: LunasCommand): void {
  addCreate(webhooks);
  addList(webhooks);
  addSet(webhooks);
  addRotateSecret(webhooks);
  webhooks
    .command('disable <endpoint-id>')
    .description('stop sending to an endpoint; its pending deliveries become dead and can be redelivered later')
    .writeAction(z.object({ endpointId: id }), async ({ endpointId }, audit) =>
      endpointResult(requireDone(await runOperation(audit, disableEndpoint, audit, on(endpointId)))),
    );
  webhooks
    .command('enable <endpoint-id>')
    .description('send to an endpoint again; for its dead deliveries see `redeliver`')
    .writeAction(z.object({ endpointId: id }), async ({ endpointId }, audit) =>
      endpointResult(requireDone(await runOperation(audit, enableEndpoint, audit, on(endpointId)))),
    );
  addDelete(webhooks);
  addPing(webhooks);
  addDeliveries(webhooks);
  addRedeliver(webhooks);
}

function addCreate(webhooks: LunasCommand): void {
  const input = z.object({
    merchant: id,
    url: z.string(),
    event: z.array(oneOf(WEBHOOK_EVENTS)).default([]),
    expand: z.array(oneOf(WEBHOOK_EXPANSIONS)).default([]),
  });
  webhooks
    .command('create')
    .description('register an endpoint; the secret that signs its webhooks is shown only once')
    .requiredOption('--merchant <id>', 'the merchant of the payments')
    .requiredOption('--url <url>', 'the address of the receiver')
    .option('--event <event>', `${joinOptions(WEBHOOK_EVENTS)}; repeat for more (default: all of payments)`, collect)
    .option('--expand <member>', EXPAND_TEXT, collect)
    .examples(
      'lunas webhooks create --merchant MERCHANT_ID --url https://shop.example/webhooks',
      'lunas webhooks create --merchant MERCHANT_ID --url https://shop.example/paid --event payment.paid',
    )
    .writeAction(input, async ({ merchant, url, event, expand }, audit, context, environment) => {
      const { db, log } = audit;
      const sealer = await context.sealer(db);
      const loadSealer = () => Promise.resolve(sealer);
      const needs = { db, log, loadSealer, receiverRules: receiverRules(context, environment) };
      const call = { path: { merchant }, input: { url, events: event, expand } };
      const endpoint = requireDone(await runOperation(audit, createEndpoint, needs, call));
      await updateRunFile(context, db, sealer, merchant);
      const fields = { Secret: endpoint.secret, ...settingsOf(endpoint) };
      const notes = [SECRET_SHOWN_ONCE, warningOfDuplicate(endpoint.duplicateOf) ?? []].flat();
      return { json: { endpoint }, text: `${formatFields(fields)}\n\n${notes.join('\n')}` };
    });
}

/** A developer who has lost a secret often registers the same URL again. */
function warningOfDuplicate(endpointId: string | null): string | undefined {
  if (endpointId === null) return undefined;
  return (
    `Warning: ${endpointId} is enabled and has the same URL: your server receives twice what both send. ` +
    `For a new secret of that endpoint: lunas webhooks rotate-secret ${endpointId}`
  );
}

function addList(webhooks: LunasCommand): void {
  webhooks
    .command('list')
    .description('list all endpoints and their health, without their secrets')
    .databaseAction(z.object({}), async (_, db) => {
      const endpoints = await listEndpoints(db);
      const rows = endpoints.map((endpoint) => ({
        ID: endpoint.id,
        MERCHANT: endpoint.merchantId,
        URL: endpoint.url,
        EVENTS: eventsOf(endpoint),
        EXPAND: expandOf(endpoint),
        PENDING: endpoint.pending,
        STATUS: describeHealth(endpoint),
      }));
      const text = formatTable(rows, 'There is no endpoint yet; lunas webhooks create registers one.');
      return { json: { endpoints }, text };
    });
}

function addSet(webhooks: LunasCommand): void {
  const input = z
    .object({
      endpointId: id,
      url: z.string().optional(),
      event: z.array(oneOf(WEBHOOK_EVENTS)).default([]),
      allEvents: z.boolean().default(false),
      // `--no-expand` is false.
      expand: z.union([z.literal(false).transform(() => []), z.array(oneOf(WEBHOOK_EXPANSIONS))]).optional(),
    })
    .refine(({ event, allEvents }) => event.length === 0 || !allEvents, {
      error: 'takes either --event or --all-events',
    })
    .refine(({ url, event, allEvents, expand }) => (url ?? expand) !== undefined || event.length > 0 || allEvents, {
      error: 'takes --url, --event, --all-events, --expand or --no-expand',
    });
  webhooks
    .command('set <endpoint-id>')
    .description('change the URL of an endpoint, its events or its members; its id and its secret stay')
    .option('--url <url>', 'the new address of the receiver, also for deliveries that wait')
    .option('--event <event>', `${joinOptions(WEBHOOK_EVENTS)}; repeat for more; replaces its events`, collect)
    .option('--all-events', 'send every event of payments')
    .option('--expand <member>', `${EXPAND_TEXT}; replaces them`, collect)
    .option('--no-expand', 'add nothing to the bodies')
    .examples(
      'lunas webhooks set ENDPOINT_ID --url https://shop.example/webhooks',
      'lunas webhooks set ENDPOINT_ID --event payment.paid --event payment.settled',
      'lunas webhooks set ENDPOINT_ID --all-events',
      'lunas webhooks set ENDPOINT_ID --expand metadata --expand settlement',
    )
    .writeAction(input, async ({ endpointId, url, event, allEvents, expand }, audit, context, environment) => {
      const events = allEvents || event.length > 0 ? event : undefined;
      const { db, log } = audit;
      const needs = { db, log, receiverRules: receiverRules(context, environment) };
      const call = { path: { endpoint: endpointId }, input: { url, events, expand } };
      const endpoint = requireDone(await runOperation(audit, setEndpoint, needs, call));
      return { json: { endpoint }, text: formatFields(settingsOf(endpoint)) };
    });
}

function addDelete(webhooks: LunasCommand): void {
  webhooks
    .command('delete <endpoint-id>')
    .description('delete an endpoint for good; its pending deliveries become dead, and its history stays')
    .writeAction(z.object({ endpointId: id }), async ({ endpointId }, audit, context) => {
      const { merchantId } = requireDone(await runOperation(audit, deleteEndpoint, audit, on(endpointId)));
      await updateRunFile(context, audit.db, await context.sealer(audit.db), merchantId);
      return { json: { endpoint_id: endpointId, deleted: true }, text: `The endpoint ${endpointId} is deleted.` };
    });
}

function addRotateSecret(webhooks: LunasCommand): void {
  webhooks
    .command('rotate-secret <endpoint-id>')
    .description('create a new secret, shown only once; webhooks are signed with the old one too during the overlap')
    .option('--overlap <duration>', 'how long the old secret stays valid', '24h')
    .examples('lunas webhooks rotate-secret ENDPOINT_ID', 'lunas webhooks rotate-secret ENDPOINT_ID --overlap 0s')
    .writeAction(
      z.object({ endpointId: id, overlap: durationFrom(0) }),
      async ({ endpointId, overlap }, audit, context) => {
        const sealer = await context.sealer(audit.db);
        const { db, log } = audit;
        const secret = newWebhookSecret();
        const call = { path: { endpoint: endpointId }, input: { overlapSeconds: overlap, secret } };
        const needs = { db, log, loadSealer: () => Promise.resolve(sealer) };
        const result = await runOperation(audit, rotateSecret, needs, call);
        if (result.outcome === 'waits') return waitingSecret({ id: endpointId, secret }, result);
        const { endpoint } = requireDone(result);
        await updateRunFile(context, audit.db, sealer, endpoint.merchantId);
        const fields = {
          Secret: endpoint.secret,
          Endpoint: endpoint.id,
          'Old secret': `valid until ${endpoint.oldSecretExpiresAt.toISOString()}`,
        };
        return { json: { endpoint }, text: `${formatFields(fields)}\n\n${SECRET_SHOWN_ONCE}` };
      },
    );
}

/** A secret that signs when a second operator has approved it. */
function waitingSecret(
  endpoint: { readonly id: string; readonly secret: string },
  { approvalId }: { readonly approvalId: number },
): CommandResult {
  const fields = formatFields({ Secret: endpoint.secret, Endpoint: endpoint.id });
  const text = `${fields}\n\n${SECRET_SHOWN_ONCE}\nIt signs nothing yet: ${howToApprove(approvalId)}`;
  return { json: { endpoint, approvalId }, text };
}

function endpointResult(endpoint: WebhookEndpoint): CommandResult {
  return { json: { endpoint }, text: `${endpoint.url} (${endpoint.id}) is ${describeHealth(endpoint)}.` };
}

function addPing(webhooks: LunasCommand): void {
  webhooks
    .command('ping <endpoint-id>')
    .description('send a signed test request to an endpoint now, and show the response')
    .writeAction(z.object({ endpointId: id }), async ({ endpointId }, audit, context, environment) => {
      const sender = createWebhookSender(receiverRules(context, environment));
      try {
        const sealer = await context.sealer(audit.db);
        const { db, log } = audit;
        const retries = { ping: () => sendPing({ db, log, sealer, sender }, endpointId) };
        const needs = { db, log, workflows: { retries } };
        const { ping, endpoint } = requireDone(await runOperation(audit, pingEndpoint, needs, on(endpointId)));
        const fields = {
          Result: ping.failure === null ? 'delivered' : `failed: ${ping.failure}`,
          URL: endpoint.url,
          Status: ping.statusCode,
          Duration: `${ping.durationMs} ms`,
          Response: ping.responseExcerpt,
        };
        const failure = ping.failure === null ? {} : { failure: `The ping was not delivered: ${ping.failure}.` };
        return { json: { ping }, text: formatFields(fields), ...failure };
      } finally {
        await sender.close();
      }
    });
}

const PERIOD_RULE = { path: ['since'], error: 'must not be after --until' };

function addDeliveries(webhooks: LunasCommand): void {
  const input = z
    .object({
      payment: z.string().optional(),
      payout: z.string().optional(),
      merchant: id.optional(),
      status: oneOf(DELIVERY_STATUSES).optional(),
      event: oneOf(WEBHOOK_EVENTS).optional(),
      since: timestamp.optional(),
      until: timestamp.optional(),
      limit,
    })
    .refine(({ since, until }) => isPeriod(since, until), PERIOD_RULE);
  webhooks
    .command('deliveries')
    .description('list the newest deliveries; with --json also every attempt and its response')
    .option('--payment <id>', 'only deliveries of one payment, by its id or reference_id')
    .option('--payout <id>', 'only deliveries of one payout, by its id or reference_id')
    .option('--merchant <id>', 'only deliveries of one merchant')
    .option('--status <status>', `only deliveries with this status: ${joinOptions(DELIVERY_STATUSES)}`)
    .option('--event <event>', 'only deliveries of one event, such as payment.paid')
    .option('--since <timestamp>', 'only events since then')
    .option('--until <timestamp>', 'only events before then')
    .option('--limit <n>', 'maximum number', '20')
    .examples(
      'lunas webhooks deliveries --status dead',
      'lunas webhooks deliveries --merchant MERCHANT_ID --event payment.paid --since 2026-01-31T09:00:00Z --json',
    )
    .databaseAction(input, async ({ merchant, ...filter }, db) => {
      const deliveries = await listDeliveries(db, { merchantId: merchant, ...filter });
      return { json: { deliveries }, text: formatTable(deliveries.map(deliveryRow), 'No deliveries.') };
    });
}

function addRedeliver(webhooks: LunasCommand): void {
  const input = z
    .object({
      deliveryId: z.array(id),
      since: timestamp.optional(),
      until: timestamp.optional(),
      merchant: id.optional(),
    })
    .refine(
      ({ deliveryId, since, until, merchant }) =>
        deliveryId.length > 0 ? !since && !until && !merchant : since !== undefined && until !== undefined,
      { error: 'takes either delivery ids, or --since and --until' },
    )
    .refine(({ since, until }) => isPeriod(since, until), PERIOD_RULE);
  webhooks
    .command('redeliver [delivery-id...]')
    .description('redeliver the given deliveries, or all dead deliveries of a time range; their ids stay the same')
    .option('--since <timestamp>', 'events since then')
    .option('--until <timestamp>', 'events before then')
    .option('--merchant <id>', 'only dead deliveries of one merchant')
    .examples(
      'lunas webhooks redeliver DELIVERY_ID DELIVERY_ID',
      'lunas webhooks redeliver --since 2026-01-31T09:00:00Z --until 2026-01-31T12:00:00Z',
    )
    .writeAction(input, async ({ deliveryId, since, until, merchant }, audit) => {
      const deliveries = since && until ? { since, until, merchant } : deliveryId;
      const result = await runOperation(audit, redeliver, audit, { path: { deliveries }, input: {} });
      const redelivery = requireRedelivered(result);
      return { json: { ...redelivery }, text: renderRedelivery(redelivery) };
    });
}

/** `run.json` of a running Lunas contains the newest secret of its demo merchant. */
async function updateRunFile(
  context: CommandContext,
  db: Queryable,
  sealer: Sealer,
  merchantId: string,
): Promise<void> {
  const runFile = await context.runFile();
  if (runFile?.merchant_id !== merchantId) return;
  await writeRunFile(context.dataDirectory, {
    ...runFile,
    webhook_secret: await findNewestSecret(db, sealer, merchantId),
  });
}

function eventsOf(endpoint: WebhookEndpoint): string {
  return endpoint.events?.join(', ') ?? 'all of payments';
}

function expandOf(endpoint: WebhookEndpoint): string | null {
  return endpoint.expand.length === 0 ? null : endpoint.expand.join(', ');
}

function settingsOf(endpoint: WebhookEndpoint) {
  return {
    Endpoint: endpoint.id,
    URL: endpoint.url,
    Events: eventsOf(endpoint),
    Expand: expandOf(endpoint),
  };
}

/** `enabled`, `disabled (gone)`, `failing since …`. */
function describeHealth(endpoint: WebhookEndpoint): string {
  const { status, disabledReason, failingSince, nextProbeAt } = endpoint;
  if (status === 'disabled') return disabledReason === null ? status : `${status} (${disabledReason})`;
  if (failingSince === null) return status;
  const failing = `failing since ${failingSince.toISOString()} (${endpoint.consecutiveFailures} attempts)`;
  return nextProbeAt === null ? failing : `${failing}, next probe ${nextProbeAt.toISOString()}`;
}

function deliveryRow(delivery: ListedDelivery) {
  return {
    ID: delivery.id,
    CREATED: delivery.createdAt,
    EVENT: delivery.event,
    REFERENCE: delivery.referenceId,
    STATUS: delivery.status,
    ATTEMPTS: delivery.attempts.length,
    'LAST RESPONSE': lastResponse(delivery),
    URL: delivery.url,
  };
}

function lastResponse({ deadReason, attempts }: ListedDelivery): string | number | null | undefined {
  const last = attempts.at(-1);
  const response = last?.failure ?? last?.statusCode;
  return deadReason === null ? response : [deadReason, response].filter((part) => part !== undefined).join(': ');
}

function renderRedelivery({ redelivered, skipped }: Redelivery): string {
  const rest = skipped === 0 ? '' : ` ${skipped} of disabled endpoints stay dead.`;
  return `${redelivered} ${redelivered === 1 ? 'delivery is' : 'deliveries are'} pending again.${rest}`;
}
