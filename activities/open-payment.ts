import type { PaymentTerms } from '../src/domain/payment';
import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { acceptPayment, expiryOf } from '../src/db/transitions/accept-payment';
import type { Step } from '../src/db/transitions/apply-transition';
import { issuePayment } from '../src/db/transitions/issue-payment';
import { rejectPayment } from '../src/db/transitions/reject-payment';
import type { IssueQrisOutcome, Provider } from '../src/providers/provider';
import type { ActivityDependencies } from './dependencies';
import { providerCall, unclear } from './provider-call';
import { stepResult } from './step-result';

/**
 * Writes the payment as `created`, has the provider issue its QR, and records `pending` or `failed`.
 * Where an earlier attempt may have reached the provider, the order is looked up before it is asked again.
 */
export async function openPayment(
  dependencies: ActivityDependencies,
  { terms, atMs }: PaymentStep,
): Promise<StepResult> {
  const at = new Date(atMs);
  const accepted = await acceptPayment(dependencies, terms, at);
  if (accepted.state.status !== 'created') return { state: accepted.state };

  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const earlier = accepted.outcome === 'repeated' ? await findIssued(provider, terms) : undefined;
  const outcome = earlier ?? (await issue(provider, terms, at));
  return record(dependencies, { terms, state: accepted.state, atMs }, outcome);
}

/**
 * What an earlier attempt got without recording it. Undefined where the provider knows nothing, or does not repeat the
 * payload: asking again is safe then, it recognises the order and the idempotency key.
 */
async function findIssued(provider: Provider, terms: PaymentTerms): Promise<IssueQrisOutcome | undefined> {
  const found = await provider.findPayment(terms.referenceId, providerCall());
  if (found.outcome === 'unclear') throw unclear(found);
  if (found.outcome === 'not_found') return undefined;
  const { status, providerTransactionId, qrisPayload } = found.payment;
  if (status === 'denied') return { outcome: 'refused', reason: 'the provider denied the order' };
  return qrisPayload === null ? undefined : { outcome: 'accepted', providerTransactionId, qrisPayload };
}

function issue(provider: Provider, terms: PaymentTerms, createdAt: Date): Promise<IssueQrisOutcome> {
  const { provider: name, referenceId, totalRupiah } = terms;
  const expiresAt = expiryOf(terms, createdAt);
  return provider.issueQris({ provider: name, referenceId, totalRupiah, createdAt, expiresAt }, providerCall());
}

async function record(
  dependencies: ActivityDependencies,
  { terms, state, atMs }: PaymentStep,
  outcome: IssueQrisOutcome,
): Promise<StepResult> {
  const step: Step = { paymentId: terms.paymentId, version: state.version, at: new Date(atMs) };
  switch (outcome.outcome) {
    case 'accepted':
      return stepResult(await issuePayment(dependencies, step, outcome));
    case 'refused':
      return stepResult(await rejectPayment(dependencies, step, outcome.reason));
    case 'unclear':
      throw unclear(outcome);
  }
}
