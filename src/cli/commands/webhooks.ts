import type { Command } from 'commander';
import { z } from 'zod';
import { PAYMENT_EVENTS } from '../../domain/events';
import { writeRun } from '../../embedded/home';
import { createEndpoint, listEndpoints, type WebhookEndpoint } from '../../operator/webhook-endpoints';
import { answering, repeated, withExamples } from '../answering';
import { id, listed, oneOf } from '../inputs';
import { formatFields, formatTable } from '../output';
import { type Settings, withDatabase } from '../settings';
import type { Terminal } from '../terminal';

export function addWebhooksCommand(program: Command, terminal: Terminal): void {
  const webhooks = program.command('webhooks').description('where merchants are told of changes');
  addCreate(webhooks, terminal);
  addList(webhooks, terminal);
}

function addCreate(webhooks: Command, terminal: Terminal): void {
  const command = webhooks
    .command('create')
    .description('register a receiver; the secret that signs its webhooks is shown this once')
    .requiredOption('--merchant <id>', 'whose payments')
    .requiredOption('--url <url>', 'where to send them')
    .option('--event <event>', `${listed(PAYMENT_EVENTS)}; repeat for more (default: all)`, repeated);
  withExamples(
    command,
    'lunas webhooks create --merchant MERCHANT_ID --url https://shop.example/webhooks',
    'lunas webhooks create --merchant MERCHANT_ID --url https://shop.example/paid --event payment.paid',
  );
  const input = z.object({ merchant: id, url: z.string(), event: z.array(oneOf(PAYMENT_EVENTS)).default([]) });
  answering(command, terminal, input, ({ merchant, url, event }, settings) =>
    withDatabase(settings, async (db) => {
      const environment = settings.config.LUNAS_ENVIRONMENT;
      const order = { merchantId: merchant, url, events: event, environment };
      const endpoint = await createEndpoint(db, await settings.sealer(), order);
      await tellRun(settings, endpoint);
      const fields = { Secret: endpoint.secret, Endpoint: endpoint.id, URL: endpoint.url, Events: wanted(endpoint) };
      return { json: { endpoint }, text: `${formatFields(fields)}\n\nKeep the secret now: it is not shown again.` };
    }),
  );
}

function addList(webhooks: Command, terminal: Terminal): void {
  const command = webhooks.command('list').description('show all receivers, without their secrets');
  const columns = {
    ID: (endpoint: WebhookEndpoint) => endpoint.id,
    MERCHANT: (endpoint: WebhookEndpoint) => endpoint.merchantId,
    URL: (endpoint: WebhookEndpoint) => endpoint.url,
    EVENTS: wanted,
    STATUS: (endpoint: WebhookEndpoint) => endpoint.status,
  };
  answering(command, terminal, z.object({}), (_, settings) =>
    withDatabase(settings, async (db) => {
      const endpoints = await listEndpoints(db);
      return { json: { endpoints }, text: formatTable(endpoints, columns, 'No receiver is registered yet.') };
    }),
  );
}

/** `run.json` of a running Lunas has the newest secret of its demo merchant. */
async function tellRun(settings: Settings, endpoint: { merchantId: string; secret: string }): Promise<void> {
  const run = await settings.run();
  if (run?.merchant_id === endpoint.merchantId) {
    await writeRun(settings.home, { ...run, webhook_secret: endpoint.secret });
  }
}

function wanted(endpoint: WebhookEndpoint): string {
  return endpoint.events?.join(', ') ?? 'all';
}
