import { formatRupiah } from '../src/domain/money';
import { expiryOf, type PaymentTerms } from '../src/domain/payment';
import type { Opening, StepInput, StepResult } from '../src/domain/workflow-step';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import { findOpening } from '../src/db/queries/find-opening';
import type { TransitionResult } from '../src/db/transitions/apply-transition';
import type { IssueQrisOutcome, Provider } from '../src/providers/provider';
import type { ActivityDependencies } from './dependencies';
import { providerDeadline, indeterminateError } from './provider-deadline';
import { toStepResult, toTransitionInput } from './transition-input';

/**
 * Writes the payment as `created`, has the provider issue its QR, and records `pending` or `failed`.
 * Where an earlier attempt may have reached the provider, the order is looked up before it is asked again.
 */
export async function openPayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const accepted = await transitionWriters.create(dependencies, request);
  if (accepted.state.status !== 'created') return opened(dependencies, request, accepted);

  const { terms } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const earlier = accepted.outcome === 'repeated' ? await findIssued(provider, terms) : undefined;
  const outcome = earlier ?? (await issue(provider, request));
  return record(dependencies, { ...request, state: accepted.state }, outcome);
}

/**
 * What an earlier attempt got without recording it. Undefined where the provider knows nothing, or does not repeat the
 * payload: asking again is safe then, it recognises the order and the idempotency key.
 */
async function findIssued(provider: Provider, terms: PaymentTerms): Promise<IssueQrisOutcome | undefined> {
  const found = await provider.findPayment(terms.referenceId, providerDeadline());
  if (found.outcome === 'indeterminate') throw indeterminateError(found);
  if (found.outcome === 'not_found') return undefined;
  const { status, totalRupiah, providerTransactionId, qrisPayload } = found.payment;
  if (totalRupiah !== terms.totalRupiah) {
    const amounts = `${formatRupiah(totalRupiah)} instead of ${formatRupiah(terms.totalRupiah)}`;
    throw indeterminateError({ outcome: 'indeterminate', reason: `it has the order over ${amounts}` });
  }
  if (status === 'denied') return { outcome: 'rejected', reason: 'the provider denied the order' };
  return qrisPayload === null ? undefined : { outcome: 'accepted', providerTransactionId, qrisPayload };
}

function issue(provider: Provider, { terms, createdAtMs }: StepInput): Promise<IssueQrisOutcome> {
  const { provider: name, referenceId, totalRupiah } = terms;
  const [createdAt, expiresAt] = [new Date(createdAtMs), new Date(expiryOf(createdAtMs, terms))];
  return provider.issueQris({ provider: name, referenceId, totalRupiah, createdAt, expiresAt }, providerDeadline());
}

async function record(
  dependencies: ActivityDependencies,
  request: StepInput,
  outcome: IssueQrisOutcome,
): Promise<StepResult> {
  const step = toTransitionInput(request);
  switch (outcome.outcome) {
    case 'accepted':
      return opened(dependencies, request, await transitionWriters.issue(dependencies, { ...step, ...outcome }), {
        outcome: 'issued',
        atMs: request.atMs,
        providerTransactionId: outcome.providerTransactionId,
        qrisPayload: outcome.qrisPayload,
      });
    case 'rejected':
      return opened(
        dependencies,
        request,
        await transitionWriters.fail_creation(dependencies, { ...step, reason: outcome.reason }),
        {
          outcome: 'rejected',
          atMs: request.atMs,
          reason: outcome.reason,
        },
      );
    case 'indeterminate':
      throw indeterminateError(outcome);
  }
}

/** The result with the opening, for the history: the one just recorded, else the one that PostgreSQL has. */
export async function opened(
  { db }: ActivityDependencies,
  { terms }: StepInput,
  recorded: TransitionResult,
  applied?: Opening,
): Promise<StepResult> {
  const opening = (recorded.outcome === 'applied' && applied) || (await findOpening(db, terms.paymentId));
  return { ...toStepResult(recorded), ...(opening && { opening }) };
}
