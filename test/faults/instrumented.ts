import type { Pool } from '../../src/db/connection/pool';
import type { PaymentTerms } from '../../src/domain/payment';
import type { Provider } from '../../src/providers/provider';
import type { ProviderRegistry } from '../../src/providers/registry';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import { hitBreakpoint } from './breakpoint';
import type { KillPoint } from './kill-points';
import { APART, rewriteStatement, runInTwo, type Mutant, type Statement } from './mutants';

/** Breakpoints by the beginning of a statement's name. */
export interface QueryBreakpoints {
  /** Here the harness delays the running statement by a lock. */
  readonly inside?: Readonly<Record<string, KillPoint>>;
  readonly before?: Readonly<Record<string, KillPoint>>;
  readonly after?: Readonly<Record<string, KillPoint>>;
}

/** Transitions of the workflow that send a webhook. */
const WITH_OUTBOX = ['issue', 'pay', 'settle', 'expire', 'cancel', 'request_refund', 'confirm_refund'] as const;

export const API_BREAKPOINTS = {
  before: { store_notification: 'K6' },
  after: { store_notification: 'K7', store_payout_notification: 'K17' },
} as const satisfies QueryBreakpoints;

export const WORKER_BREAKPOINTS = {
  inside: Object.fromEntries(WITH_OUTBOX.map((step) => [`transition_${step}`, 'K8' as const])),
  before: { transition_create: 'K2', record_delivered: 'K9', transition_settle: 'K11' },
  after: { transition_create: 'K3', transition_issue: 'K5', transition_settle: 'K11' },
} as const satisfies QueryBreakpoints;

/** The pool, with breakpoints around its named statements. */
export function instrumentQueries(db: Pool, breakpoints: QueryBreakpoints, mutant: Mutant | null): Pool {
  return new Proxy(db, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      if (key !== 'query') return member.bind(target);
      return async (given: unknown, ...rest: unknown[]) => {
        if (!isStatement(given)) return member.call(target, given, ...rest);
        const statement = rewriteStatement(mutant, given);
        const send = (what: Statement) => Promise.resolve(member.call(target, what));
        await breakAt(breakpoints.before, statement.name);
        const inside = pointOf(breakpoints.inside, statement.name);
        const isApart = inside !== undefined && mutant !== null && APART[inside] === mutant;
        if (inside !== undefined && !isApart) await hitBreakpoint(inside);
        const result = isApart ? await runInTwo(statement, send, () => hitBreakpoint(inside)) : await send(statement);
        await breakAt(breakpoints.after, statement.name);
        return result;
      };
    },
  });
}

type Points = Readonly<Record<string, KillPoint>> | undefined;

async function breakAt(points: Points, statement: string): Promise<void> {
  const point = pointOf(points, statement);
  if (point !== undefined) await hitBreakpoint(point);
}

function pointOf(points: Points, statement: string): KillPoint | undefined {
  return Object.entries(points ?? {}).find(([name]) => statement.startsWith(name))?.[1];
}

export function isStatement(given: unknown): given is Statement {
  return typeof given === 'object' && given !== null && 'name' in given && 'text' in given;
}

/** The workflow client of the API. */
export class InstrumentedWorkflowClient extends PaymentWorkflowClient {
  override async createPayment(terms: PaymentTerms, timeoutMs?: number): Promise<void> {
    await hitBreakpoint('K1');
    await super.createPayment(terms, timeoutMs);
    await hitBreakpoint('K5');
  }
}

/** The provider accounts, with breakpoints around the worker's calls. */
export function instrumentProviders(
  registry: ProviderRegistry,
  mutant: Mutant | null,
  change: (provider: Provider) => Provider,
): ProviderRegistry {
  return { ...registry, forAccount: async (id) => instrumentProvider(change(await registry.forAccount(id)), mutant) };
}

function instrumentProvider(provider: Provider, mutant: Mutant | null): Provider {
  return {
    ...provider,
    async issueQris(request, call) {
      const outcome = await provider.issueQris(request, call);
      if (outcome.outcome === 'accepted') await hitBreakpoint('K4');
      return outcome;
    },
    async findPayment(order, call) {
      const found = await provider.findPayment(order, call);
      // A pending order is mostly queried before `issueQris` is repeated.
      const isHidden = mutant === 'noLookUp' && found.outcome === 'found' && found.payment.status === 'pending';
      return isHidden ? { outcome: 'not_found' } : found;
    },
    async expirePayment(order, call) {
      await hitBreakpoint('K12');
      return provider.expirePayment(order, call);
    },
    async refundPayment(request, call) {
      const refundKey = mutant === 'refundKeyUnstable' ? `${request.refundKey}-${Date.now()}` : request.refundKey;
      const outcome = await provider.refundPayment({ ...request, refundKey }, call);
      if (outcome.outcome === 'accepted') await hitBreakpoint('K10');
      return outcome;
    },
  };
}
