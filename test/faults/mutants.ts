import { PAYMENT_PARAMETERS } from '../../src/db/transitions/apply-payment-transition';

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
  // Last, because it loses acknowledged payments.
  commitNotDurable: { broken: 'PostgreSQL acknowledges before it writes the commit', violates: ['I1'] },
} as const satisfies Record<string, { broken: string; violates: readonly string[] }>;

export type Mutant = keyof typeof MUTANTS;
export const MUTANT_NAMES = Object.keys(MUTANTS).filter(isMutant);

export function isMutant(name: string): name is Mutant {
  return name in MUTANTS;
}

const COMPARE_AND_SET = /where id = (\$\d+) and version = (\$\d+) and status = '\w+'/;
const LEASE_IS_OVER = 'leased_until <= now()';

/** The statement of a mutant. The name changes with the text, because node-postgres prepares by name. */
export function rewriteStatement(mutant: Mutant | null, statement: Statement): Statement {
  const rewrite = (text: string, rewritten: string) =>
    text === rewritten ? statement : { ...statement, name: `${statement.name}_${mutant}`, text: rewritten };
  const { name, text } = statement;
  if (mutant === 'stepNotDeduplicated' && name.startsWith('transition_')) {
    // Each parameter has to be used.
    return rewrite(text, text.replace(COMPARE_AND_SET, 'where id = $1 and $2::integer is not null'));
  }
  if (mutant === 'leaseForEver') return rewrite(text, text.replaceAll(LEASE_IS_OVER, "leased_until = '-infinity'"));
  return statement;
}

const ID = `$${PAYMENT_PARAMETERS.indexOf('paymentId') + 1}`;
/** The outbox reads only the other two, and each parameter needs a type. */
const UNUSED = PAYMENT_PARAMETERS.flatMap((name, index) =>
  name === 'paymentId' || name === 'environment' ? [] : [`$${index + 1}::text`],
);

/** The mutant `outboxApart`: one statement for the transition, then another one for the event and its deliveries. */
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
  await send({
    name: `${name}_outbox`,
    text: `with changed as (select * from payments where id = ${ID}::uuid),${outbox}
      select ${UNUSED.join(', ')} from changed`,
    values: values.slice(0, PAYMENT_PARAMETERS.length),
  });
  return result;
}
