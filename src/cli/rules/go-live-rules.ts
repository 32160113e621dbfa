import type { PaymentEvent } from '../../domain/events';
import { PROVIDER_CAPABILITIES } from '../../domain/provider-capabilities';
import type { GoLiveFacts } from '../../services/merchants/go-live';
import { okUnless, type Finding, type Rule } from './rule';

/** `settled` can overtake `paid`, and a merchant fulfils at either. */
const FULFILMENT_EVENTS: readonly PaymentEvent[] = ['payment.paid', 'payment.settled'];

/** The go-live checklist of a merchant (docs/integration.md), in the order of the integration. */
export const GO_LIVE_RULES: readonly Rule<GoLiveFacts>[] = [
  {
    name: 'merchant',
    advice: 'Use `lunas merchants approve`, `release` or `set --payment-method active`.',
    check: checkMerchant,
  },
  {
    name: 'identity',
    advice: 'Use `lunas merchants identify`.',
    check: checkIdentity,
  },
  {
    name: 'provider',
    advice: 'Add an account (`lunas accounts add`) and a policy (`lunas catalog set`).',
    check: ({ merchant, usableProviders }) =>
      okUnless(
        usableProviders.length > 0
          ? null
          : `None of the merchant's providers (${merchant.providers.join(', ')}) has an enabled account and a policy.`,
      ),
  },
  {
    name: 'shown_name',
    advice: 'Add an account of the merchant (`lunas accounts add --merchant`).',
    check: ({ sharedNames }) =>
      sharedNames.length === 0
        ? 'ok'
        : { warning: `Customers see the name of the account, not that of the merchant: ${sharedNames.join(', ')}.` },
  },
  {
    name: 'secret_key',
    advice: 'Create one with `lunas keys create`.',
    check: ({ keys }) => okUnless(keys.length > 0 ? null : 'The merchant has no valid secret key.'),
  },
  {
    name: 'key_networks',
    advice: "Create keys for the shop's addresses (`lunas keys create --allow-ip`), and revoke the others.",
    check: checkKeyNetworks,
  },
  {
    name: 'webhook_endpoint',
    advice: 'Register one with `lunas webhooks create`.',
    check: checkEndpoint,
  },
  {
    name: 'webhook_delivered',
    advice: 'Make a payment, and read `lunas webhooks deliveries` until the endpoint responds with 2xx.',
    check: checkDelivered,
  },
  {
    name: 'webhooks_dead',
    advice: 'Correct the endpoint, then send them again with `lunas webhooks redeliver`.',
    check: ({ deadDeliveries }) =>
      okUnless(deadDeliveries === 0 ? null : `${deadDeliveries} webhooks of the merchant are dead.`),
  },
  {
    name: 'idempotency_keys',
    advice: 'Send an Idempotency-Key with each create, and the same one when you repeat it.',
    check: checkIdempotencyKeys,
  },
  {
    name: 'ignored_input',
    advice: 'Compare the names with the documentation; `lunas logs` and the dashboard show the requests.',
    check: ({ ignoredNames }) =>
      ignoredNames.length === 0
        ? 'ok'
        : { warning: `Lunas ignores fields or parameters of the newest requests: ${ignoredNames.join(', ')}.` },
  },
  {
    name: 'test_payment',
    advice: 'Create a payment in the sandbox and pay it (`lunas sandbox pay`).',
    check: ({ environment, hasPaid }) =>
      inSandbox(environment, hasPaid ? null : 'No payment of the merchant was ever paid.'),
  },
  {
    name: 'test_refund',
    advice: 'Refund a paid payment in the sandbox (`POST /payments/:id/refund`).',
    check: checkRefund,
  },
];

function checkMerchant({ merchant: { status, heldAt, paymentMethod } }: GoLiveFacts): Finding {
  if (status !== 'approved') return { violation: `The merchant is ${status}.` };
  if (heldAt !== null) return { violation: `The merchant is on hold since ${heldAt.toISOString()}.` };
  return okUnless(paymentMethod === 'active' ? null : "The merchant's payment method is inactive.");
}

function checkIdentity({ environment, unidentified }: GoLiveFacts): Finding {
  if (environment !== 'production') return 'not applicable';
  if (unidentified === null) return 'ok';
  return unidentified.reason === 'no_identity'
    ? { violation: 'The merchant has no identity in force.' }
    : { violation: `The documents of the merchant expired on ${unidentified.validUntil}.` };
}

function checkKeyNetworks({ environment, keys }: GoLiveFacts): Finding {
  if (environment !== 'production' || keys.length === 0) return 'not applicable';
  const open = keys.filter(({ allowedNetworks }) => allowedNetworks.length === 0).map(({ masked }) => masked);
  return okUnless(open.length === 0 ? null : `Keys may be used from every address: ${open.join(', ')}.`);
}

function checkEndpoint({ endpoints }: GoLiveFacts): Finding {
  if (endpoints.length === 0) return { violation: 'The merchant has no enabled webhook endpoint.' };
  const missing = FULFILMENT_EVENTS.filter((event) =>
    endpoints.every(({ events }) => events !== null && !events.includes(event)),
  );
  return okUnless(missing.length === 0 ? null : `No endpoint receives ${missing.join(', ')}.`);
}

function checkDelivered({ endpoints, hasDelivered }: GoLiveFacts): Finding {
  if (endpoints.length === 0) return 'not applicable';
  const failing = endpoints.filter(({ consecutiveFailures }) => consecutiveFailures > 0).map(({ url }) => url);
  if (failing.length > 0) return { violation: `The last attempt failed at ${failing.join(', ')}.` };
  return okUnless(hasDelivered ? null : 'No webhook of the merchant was ever delivered.');
}

function checkIdempotencyKeys({ payments, paymentsWithoutKey }: GoLiveFacts): Finding {
  if (payments === 0) return 'not applicable';
  return okUnless(
    paymentsWithoutKey === 0
      ? null
      : `${paymentsWithoutKey} of the newest ${payments} payments were created without an idempotency key.`,
  );
}

function checkRefund({ environment, merchant, hasRefund }: GoLiveFacts): Finding {
  if (!merchant.providers.some((provider) => PROVIDER_CAPABILITIES[provider].refund)) return 'not applicable';
  return inSandbox(environment, hasRefund ? null : 'No payment of the merchant was ever refunded.');
}

/** What is tested in the sandbox, before production. */
function inSandbox(environment: GoLiveFacts['environment'], violation: string | null): Finding {
  return environment === 'sandbox' ? okUnless(violation) : 'not applicable';
}
