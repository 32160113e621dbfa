import { request } from 'undici';
import { z } from 'zod';
import { PROVIDERS } from '../../domain/provider-capabilities';
import { UserError } from '../../errors';
import { parseJson } from '../../lib/parse-json';
import { requireDone } from '../../services/operations/require-done';
import { FIRE_TIMER } from '../../services/payments/actions/fire-timer';
import { performPaymentAction } from '../../services/payments/actions/perform-action';
import { ensureSandboxKey } from '../../services/sandbox/sandbox-key';
import {
  trigger,
  TRIGGER_EVENTS,
  type TriggerActions,
  type TriggeredPayment,
  type TriggeredStep,
  type TriggerEvent,
} from '../../services/sandbox/trigger-event';
import { assertSandbox, assertSandboxDatabase } from '../assert-sandbox';
import { CommandContext, withTemporal } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import type { CommandAudit } from '../operator-identity';
import { id, joinOptions, oneOf, wholeNumber } from '../option-schemas';
import type { CommandResult } from '../output';
import { payInSandbox } from '../pay-in-sandbox';
import { runPaymentAction } from '../payment-action';
import { runOperation } from '../run-operation';

const TIMERS = ['expire', 'settle', 'submit-refund'] as const satisfies readonly (keyof typeof FIRE_TIMER)[];
const MAX_AMOUNT_RUPIAH = 10_000_000;

const input = z
  .object({
    event: oneOf([...TRIGGER_EVENTS, ...TIMERS]),
    referenceId: z.string().optional(),
    amount: wholeNumber(1, MAX_AMOUNT_RUPIAH).optional(),
    provider: oneOf(PROVIDERS).optional(),
    merchant: id.optional(),
    json: z.boolean().default(false),
  })
  .superRefine(({ event, referenceId }, context) => {
    const needsReference = TIMERS.some((timer) => timer === event);
    if (needsReference === (referenceId !== undefined)) return;
    const message = needsReference ? 'needs the reference_id of a payment' : 'takes a new payment: leave it out';
    context.addIssue({ code: 'custom', path: [needsReference ? 'event' : 'referenceId'], message });
  });
type Input = z.output<typeof input>;

export function defineTrigger(trigger: LunasCommand): void {
  trigger
    .argument('<event>')
    .argument('[reference-id]')
    .option('--amount <rupiah>', 'of the new payment (default: 50000)')
    .option('--provider <provider>', `${joinOptions(PROVIDERS)} (default: that of the merchant)`)
    .option('--merchant <id>', 'the merchant of the new payment (default: the demo merchant)')
    .addHelpText('after', `\nEvents: ${TRIGGER_EVENTS.join(', ')}\nTimers of a payment: ${TIMERS.join(', ')}`)
    .examples('lunas trigger payment.paid', 'lunas trigger payment.refunded --amount 75000', 'lunas trigger expire LN…')
    .hook('preAction', async () => {
      const context = new CommandContext(trigger.terminal.environment);
      assertSandbox(context.config);
      await assertSandboxDatabase(await context.databaseUrl());
    })
    .writeAction(input, (given, audit, context) => {
      const timer = TIMERS.find((name) => name === given.event);
      const event = TRIGGER_EVENTS.find((name) => name === given.event);
      if (timer) {
        const target = { payment: given.referenceId ?? '', note: audit.note ?? 'lunas trigger' };
        return runPaymentAction(audit, context, FIRE_TIMER[timer], target);
      }
      if (!event) throw new Error(`unreachable: ${given.event}`);
      const print = (step: TriggeredStep) => trigger.terminal.stdout.write(`${describeStep(step)}\n`);
      return runTrigger(audit, context, { ...given, event }, given.json ? () => undefined : print);
    });
}

function describeStep({ step, payment }: TriggeredStep): string {
  const late = payment.hasLatePayment ? ', with a late payment' : '';
  return `${step.padEnd(13)}  ${payment.referenceId} is ${payment.status}${late}`;
}

const LATE_PAYMENT = 'The money came too late: Lunas refunds it, or opens an exception if the provider has no refunds.';

function describePayment({ id, referenceId, merchantReferenceId, status, hasLatePayment }: TriggeredPayment): string {
  const payment = `${referenceId} (${id}) of the order ${merchantReferenceId} is ${status}.`;
  return hasLatePayment ? `${payment} ${LATE_PAYMENT}` : payment;
}

async function runTrigger(
  audit: CommandAudit,
  context: CommandContext,
  { event, merchant, provider, amount }: Omit<Input, 'event'> & { readonly event: TriggerEvent },
  onStep: (step: TriggeredStep) => void,
): Promise<CommandResult> {
  const runFile = await context.runFile();
  const merchantId = merchant ?? runFile?.merchant_id;
  if (merchantId === undefined)
    throw new UserError('Name the merchant with --merchant; lunas merchants list has them.');
  const steps: TriggeredStep[] = [];
  const needs = {
    ...audit,
    connect: async () => {
      // Only its owner has another key of the merchant.
      const key = { merchantId, name: 'lunas trigger' };
      const secretKey = await ensureSandboxKey(audit.db, await context.masterKey(), key);
      return actionsOf(audit, context, { url: await context.apiUrl(), secretKey });
    },
    onStep: (step: TriggeredStep) => {
      steps.push(step);
      onStep(step);
    },
  };
  const call = { path: { merchant: merchantId }, input: { event, provider, amountRupiah: amount } };
  const payment = requireDone(await runOperation(audit, trigger, needs, call));
  const json = { event, payment, steps: steps.map(({ step, payment: { status } }) => ({ step, status })) };
  return { json, text: describePayment(payment) };
}

interface MerchantApi {
  readonly url: string;
  readonly secretKey: string;
}

function actionsOf({ db, log, actor }: CommandAudit, context: CommandContext, api: MerchantApi): TriggerActions {
  return {
    create: async (order) => {
      const { statusCode, reason, error } = await post(api, '/payments', order);
      // There is a payment if the provider rejected the order, or sends no response: some events need that.
      if (statusCode >= 400 && reason !== 'provider_rejected' && statusCode < 500) throw rejected(error);
    },
    cancel: (paymentId) => postAction(api, `/payments/${paymentId}/cancel`),
    refund: (paymentId) => postAction(api, `/payments/${paymentId}/refund`),
    pay: async (referenceId) => void (await payInSandbox(await context.sandboxUrl(), referenceId)),
    fireTimer: (timer, paymentId) =>
      withTemporal(context, db, async (workflows) => {
        const request = { operation: FIRE_TIMER[timer], payment: paymentId, note: 'lunas trigger' };
        await performPaymentAction({ db, log, workflows }, actor, request);
      }),
  };
}

async function postAction(api: MerchantApi, path: string): Promise<void> {
  const { statusCode, error } = await post(api, path, {});
  if (statusCode >= 400) throw rejected(error);
}

const rejected = (error: ApiRejection | undefined) =>
  new UserError(`The API rejected the request: ${error?.message ?? 'it returned no reason'}`);

const rejectionSchema = z.object({ error: z.object({ message: z.string() }) });
type ApiRejection = z.infer<typeof rejectionSchema>['error'];

async function post({ url, secretKey }: MerchantApi, path: string, body: object) {
  const response = await request(new URL(path, url), {
    method: 'POST',
    headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new UserError(`No API responds at ${url}. Start \`lunas up\`, or set PUBLIC_BASE_URL to its address.`);
  });
  const { data } = rejectionSchema.safeParse(parseJson(await response.body.text()));
  return { statusCode: response.statusCode, reason: response.headers['x-error-reason'], error: data?.error };
}
