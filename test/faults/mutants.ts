import { PAYMENT_PARAMETERS } from '../../src/db/transitions/apply-payment-transition';
import type { Invariant } from './invariants';
import type { KillPoint } from './kill-points';

/** A named statement, as the service passes it to node-postgres. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** Services that are broken on purpose, and the invariants that each of them violates: the oracle must detect them. */
export const MUTANTS = {
  keyIgnored: { broken: 'the API ignores the idempotency key', violates: ['I2'] },
  stepNotDeduplicated: { broken: 'a step does not compare status and version', violates: ['I4', 'I6'] },
  noLookUp: { broken: 'an order is requested again without a status query', violates: ['I2'] },
  outboxApart: { broken: 'a separate statement writes the webhook', violates: ['I5'] },
  leaseForEver: { broken: 'the lease of a delivery never ends', violates: ['I5'] },
  refundKeyUnstable: { broken: 'every attempt at a refund has another key', violates: ['I3'] },
  recoversMissingOnly: { broken: 'the recovery starts missing workflows, and signals none', violates: ['I7', 'I8'] },
  submitRepeated: { broken: 'a repeated submission calls the bank again', violates: ['P2'] },
  referenceUnstable: { broken: 'every call to the bank has another reference', violates: ['P2'] },
  recoveryResubmits: { broken: 'the recovery starts a submitted payout as approved', violates: ['P2'] },
  resendUnpermitted: { broken: 'a payout that the bank does not know is sent again', violates: ['P2'] },
  indeterminateFails: { broken: 'an indeterminate status of the bank fails the payout', violates: ['P3'] },
  notFoundFails: { broken: 'a payout that the bank does not know fails immediately', violates: ['P3'] },
  returnIgnored: { broken: 'a payout that came back stays completed', violates: ['P3'] },
  claimUnlocked: { broken: 'a request claims lines without a lock', violates: ['P4'] },
  payoutEventApart: { broken: 'a separate statement writes the event of a payout', violates: ['P6'] },
  coolDownIgnored: { broken: 'a submission does not compare the cool-down', violates: ['P8'] },
  holdIgnored: { broken: 'a submission does not compare the hold', violates: ['P8'] },
  // Last, because it loses acknowledged payments.
  commitNotDurable: { broken: 'PostgreSQL acknowledges before it writes the commit', violates: ['I1'] },
} as const satisfies Record<string, { broken: string; violates: readonly Invariant[] }>;

export type Mutant = keyof typeof MUTANTS;
export const MUTANT_NAMES = Object.keys(MUTANTS).filter(isMutant);

export function isMutant(name: string): name is Mutant {
  return name in MUTANTS;
}

interface Rewrite {
  /** The beginning of the names of the statements. */
  readonly statements: string;
  readonly pattern: RegExp;
  readonly replacement: string;
}

/** What mutants change in the text of statements. */
const REWRITES: Readonly<Partial<Record<Mutant, readonly Rewrite[]>>> = {
  stepNotDeduplicated: [
    {
      statements: 'transition_',
      pattern: /where id = (\$\d+) and version = (\$\d+) and status = '\w+'/,
      // Each parameter has to be used.
      replacement: 'where id = $1 and $2::integer is not null',
    },
  ],
  leaseForEver: [{ statements: '', pattern: /leased_until <= now\(\)/g, replacement: "leased_until = '-infinity'" }],
  claimUnlocked: [
    { statements: 'payout_request', pattern: /(?<=order by posting_id limit \d+) for update/, replacement: '' },
    { statements: 'payout_request', pattern: / and line\.payout_id is null/, replacement: '' },
  ],
  coolDownIgnored: [
    { statements: 'payout_submit', pattern: /account\.usable_from > \$\d+::timestamptz/, replacement: 'false' },
  ],
  holdIgnored: [{ statements: 'payout_submit', pattern: /merchant\.held_at is not null/, replacement: 'false' }],
};

/** The statement of a mutant. The name changes with the text, because node-postgres prepares by name. */
export function rewriteStatement(mutant: Mutant | null, statement: Statement): Statement {
  const { name, text } = statement;
  const rewrites = mutant === null ? [] : (REWRITES[mutant] ?? []);
  const rewritten = rewrites
    .filter(({ statements }) => name.startsWith(statements))
    .reduce((changed, { statements, pattern, replacement }) => {
      const broken = changed.replace(pattern, replacement);
      // Such a mutant would be the unbroken service.
      if (statements === name && broken === changed)
        throw new Error(`${mutant} changes nothing in ${name}: ${pattern}`);
      return broken;
    }, text);
  return text === rewritten ? statement : { ...statement, name: `${name}_${mutant}`, text: rewritten };
}

/** The mutants whose outbox is a separate statement, by the points inside of the statements. */
export const APART: Readonly<Partial<Record<KillPoint, Mutant>>> = { K8: 'outboxApart', K16: 'payoutEventApart' };

/** The id of a payout has the same number. */
const ID = `$${PAYMENT_PARAMETERS.indexOf('paymentId') + 1}`;
/** The outbox reads only the other two, and each parameter needs a type. */
const UNUSED = PAYMENT_PARAMETERS.flatMap((name, index) =>
  name === 'paymentId' || name === 'environment' ? [] : [`$${index + 1}::text`],
);

/** A mutant of `APART`: one statement for the transition, then another one for the event and its deliveries. */
export async function runInTwo(
  { name, text, values = [] }: Statement,
  send: (statement: Statement) => Promise<unknown>,
  between: () => Promise<void>,
): Promise<unknown> {
  const [start, end] = [text.indexOf('\nevent as ('), text.lastIndexOf('\nselect changed.status')];
  if (start < 0 || end < start) throw new Error(`The statement ${name} has no outbox`);
  const noOutbox = '\ndeliveries as (select null as status where $3::text is null)';
  const transition = text.slice(0, start) + noOutbox + text.slice(end);
  const result = await send({ name: `${name}_apart`, text: transition, values });
  await between();
  const outbox = text.slice(start, end);
  const table = name.startsWith('payout_') ? 'payouts' : 'payments';
  await send({
    name: `${name}_outbox`,
    text: `with changed as (select * from ${table} where id = ${ID}::uuid),${outbox}
      select ${UNUSED.join(', ')} from changed`,
    values: values.slice(0, PAYMENT_PARAMETERS.length),
  });
  return result;
}
