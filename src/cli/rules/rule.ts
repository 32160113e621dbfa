import { UserError } from '../../errors';

/** What a rule found. A violation is a sentence, and so is a warning, with which a process starts. */
export type Finding = 'ok' | 'not applicable' | { readonly violation: string } | { readonly warning: string };

/** A condition for a safe start. `lunas doctor` prints all of them; processes and commands require theirs. */
export interface Rule<Subject> {
  readonly name: string;
  /** What to do if the rule is broken, as a sentence. */
  readonly advice: string;
  readonly check: (subject: Subject) => Finding | Promise<Finding>;
}

/** `ok`, or the violation. */
export function okUnless(violation: string | null): Finding {
  return violation === null ? 'ok' : { violation };
}

/** @throws UserError with violation and advice of the first broken rule */
export async function requireRules<Subject>(rules: readonly Rule<Subject>[], subject: Subject): Promise<void> {
  for (const { advice, check } of rules) {
    const finding = await check(subject);
    if (typeof finding === 'object' && 'violation' in finding) throw new UserError(`${finding.violation} ${advice}`);
  }
}
