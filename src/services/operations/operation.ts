import type { z } from 'zod';
import { scopeOf, type ApprovingOperator, type OperatorActor, type Person } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import { hasScope, type RequiredScope } from '../../domain/key-access';
import { mayAccess, rolesWith } from '../../domain/member-roles';
import type { ActionEnd } from '../../domain/recorded-outcome';
import { messageOf } from '../../errors';
import type { AuditDependencies, OperatorAction, RecordEnd } from '../audit/audit';
import { executeRecorded } from '../audit/execute-recorded';
import { storeApproval } from '../audit/request-approval';
import { beginAct } from './begin-act';
import type { Act, ApprovalExecution, ApprovalSpec, Call, MemberAccess, Spec, Started } from './operation-spec';
import {
  isRunRejection,
  rejected,
  rejectionText,
  RUN_MESSAGES,
  type Performed,
  type Reasons,
  type Rejection,
  type Result,
  type RunRejection,
} from './rejections';

/** A call or an approved request after it is parsed. */
type Parsed<Path extends z.ZodObject, Input extends z.ZodObject> = Omit<Started, 'path' | 'input'> & {
  readonly path: z.output<Path>;
  readonly input: z.output<Input>;
  readonly deadlineAtMs: number | null;
};

/** `run` itself found why `perform` was not called. */
interface Refused {
  readonly outcome: 'rejected';
  readonly rejection: RunRejection;
}

/**
 * A use case of a person, declared once for every door. `run` is the only way in, so no door can leave out the check of
 * the person or the row of the audit log: `perform` is private in the language.
 */
export class Operation<
  Name extends string,
  Path extends z.ZodObject,
  Input extends z.ZodObject,
  R extends Reasons,
  Needs extends AuditDependencies,
  Subject,
  Value,
> extends DeclaredAction<Name> {
  readonly #spec: Spec<Name, Path, Input, R, Needs, Subject, Value>;

  constructor(spec: Spec<Name, Path, Input, R, Needs, Subject, Value>) {
    super(spec.name);
    this.#spec = spec;
  }

  /** Undefined: no member may. */
  get member(): MemberAccess | undefined {
    return this.#spec.member;
  }

  get isForOperators(): boolean {
    return this.#spec.operator !== undefined;
  }

  /** What the key of an operator needs. */
  get scope(): RequiredScope {
    return this.#spec.operator ?? 'all';
  }

  /** Where an approved request takes effect; undefined: no second operator has to approve it. */
  get executes(): ApprovalExecution | undefined {
    return this.#spec.approval?.executes;
  }

  get path(): Path {
    return this.#spec.path;
  }

  get input(): Input {
    return this.#spec.input;
  }

  /** Whether a form that is sent twice is executed once. */
  get findsRepeats(): boolean {
    return this.#spec.earlier !== undefined || this.#spec.findsRepeats === true;
  }

  /**
   * The object, and why the person cannot do it; null: they can. For the page of a form.
   * @throws NotFoundError if the person reaches no such object
   */
  async preview(
    needs: Needs,
    by: Person,
    path: z.input<Path>,
  ): Promise<{ readonly subject: Subject; readonly rejection: Rejection<R> | RunRejection | null }> {
    const { load, needsProof } = this.#spec;
    const subject = await load(needs, scopeOf(by), this.path.parse(path), by);
    const rejection = this.rejectionFor(by, subject);
    if (rejection !== null || !(await needsProof?.(needs, by, subject))) return { subject, rejection };
    return { subject, rejection: { reason: 'step_up' } };
  }

  /** Why the person cannot do it to an object that was read already; null: they can, as far as no proof is needed. */
  rejectionFor(by: Person, subject: Subject): Rejection<R> | RunRejection | null {
    return this.#rejectionOf(by) ?? this.#spec.allows?.(subject, by) ?? null;
  }

  /**
   * Performs the operation. The order: parse, turn, load, person, earlier, allows, approval, audit row, proof, perform,
   * outcome. Nothing before the audit row writes.
   * @throws ZodError if path or input do not parse: a door checks them before
   * @throws NotFoundError if the person reaches no such object
   * @throws every error of `perform`; the outcome in the audit log is then indeterminate
   */
  run(needs: Needs, by: Person, call: Call<Path, Input>): Promise<Result<Value, R>> {
    return this.#run(needs, by, { ...call, approval: null });
  }

  /**
   * Performs what two operators have agreed on: path and input are those of the approval, not of the caller. The order
   * is that of `run`, and no approval is asked for again.
   * @throws as `run`
   */
  runApproved(needs: Needs, by: ApprovingOperator, note: string): Promise<Result<Value, R>> {
    const { id, parameters, expectedVersion: replaces } = by.approval;
    const sent = { path: parameters, input: parameters, formId: String(id), note };
    return this.#run(needs, by, { ...sent, approval: { replaces } });
  }

  async #run(needs: Needs, by: Person, { path, input, ...started }: Started): Promise<Result<Value, R>> {
    const { inTurn } = this.#spec;
    const parsed = { ...started, path: this.path.parse(path), input: this.input.parse(input) };
    if (inTurn === undefined) return this.#runParsed(needs, by, { ...parsed, deadlineAtMs: null });
    return inTurn(needs, { path: parsed.path, scope: scopeOf(by) }, (deadlineAtMs) =>
      this.#runParsed(needs, by, { ...parsed, deadlineAtMs }),
    );
  }

  async #runParsed(
    needs: Needs,
    by: Person,
    { path, input, note, ...started }: Parsed<Path, Input>,
  ): Promise<Result<Value, R>> {
    const { load, allows, earlier } = this.#spec;
    const subject = await load(needs, scopeOf(by), path, by);
    const refused = this.#rejectionOf(by);
    if (refused !== null) return this.#rejected(refused);
    const act = { needs, by, subject, input, note, ...started };
    const before = earlier === undefined ? null : await earlier(act);
    if (before !== null) return { outcome: 'done', value: before, isRepeat: true };
    const rejection = allows?.(subject, by, input) ?? null;
    if (rejection !== null) return this.#rejected(rejection);
    const parameters = { ...path, ...withoutSecrets(this.input, input) };
    const record = await beginAct(act, this.#entryOf(act, parameters));
    if (record !== null) return this.#perform(act, record);
    if (this.#spec.approval === undefined || by.kind === 'merchant_user')
      return this.#rejected({ reason: 'day_limit' });
    return { outcome: 'waits', approvalId: await this.#requestApproval(this.#spec.approval, by, act, parameters) };
  }

  /** The row of the audit log. That of an approved request names the request, whose parameters these are. */
  #entryOf(act: Act<Needs, Subject, z.output<Input>>, parameters: object): OperatorAction {
    const { approval, target, detail } = this.#spec;
    return {
      action: this,
      target: target(act),
      note: act.note,
      detail: act.approval === null ? JSON.stringify(detail?.(act) ?? parameters) : undefined,
      hasApproval: approval !== undefined && !approval.isExempt?.(act.subject),
      amountRupiah: approval?.amountRupiah?.(act),
      merchantId: approval?.merchantId?.(act.subject, act.input),
    };
  }

  async #perform(act: Act<Needs, Subject, z.output<Input>>, record: RecordEnd): Promise<Result<Value, R>> {
    const performed = await executeRecorded(
      () => this.#performProved(act),
      record,
      (result) => this.#endOf(result),
    );
    if (performed.outcome === 'done') return { ...performed, isRepeat: false };
    if (performed.outcome === 'rejected') return this.#rejected(performed.rejection);
    const { error: err } = performed;
    act.needs.log?.warn(
      { err, action: this.name, target: this.#spec.target(act) },
      'outcome of an operation not known',
    );
    return performed;
  }

  async #performProved(act: Act<Needs, Subject, z.output<Input>>): Promise<Performed<Value, R> | Refused> {
    if (await this.#spec.needsProof?.(act.needs, act.by, act.subject)) return rejected({ reason: 'step_up' });
    return this.#spec.perform(act);
  }

  /** How the audit log ends the act. */
  #endOf(performed: Performed<Value, R> | Refused): ActionEnd {
    switch (performed.outcome) {
      case 'done': {
        const detail = this.#spec.incomplete?.(performed.value) ?? null;
        return { outcome: detail === null ? 'succeeded' : 'indeterminate', detail };
      }
      case 'rejected':
        return { outcome: 'rejected', detail: this.#messageOf(performed.rejection) };
      case 'unknown':
        return { outcome: 'indeterminate', detail: messageOf(performed.error) };
    }
  }

  /** @returns the id of the request */
  #requestApproval(
    {
      target = this.#spec.target,
      path,
      amountRupiah,
      replaces,
      propose,
    }: ApprovalSpec<Needs, Subject, z.output<Input>>,
    by: OperatorActor,
    act: Act<Needs, Subject, z.output<Input>>,
    parameters: object,
  ): Promise<number> {
    const proposal = propose?.(act) ?? null;
    const request = {
      action: this.name,
      target: target(act),
      parameters: proposal?.parameters ?? { ...parameters, ...path?.(act.subject) },
      ...(amountRupiah && { amountRupiah: amountRupiah(act) }),
      replaces: replaces?.(act.subject) ?? null,
    };
    return storeApproval(act.needs, by, request, act.note, proposal?.store);
  }

  #rejected(rejection: Rejection<R> | RunRejection): Result<Value, R> {
    return { outcome: 'rejected', rejection, message: this.#messageOf(rejection) };
  }

  #messageOf(rejection: Rejection<R> | RunRejection): string {
    if (isRunRejection(rejection)) return rejectionText(RUN_MESSAGES, rejection);
    return rejectionText(this.#spec.messages, rejection);
  }

  /** Why the person may not do it to any object at present. */
  #rejectionOf(by: Person): RunRejection | null {
    const { member, operator } = this.#spec;
    if (by.kind !== 'merchant_user') {
      if (operator === undefined) return { reason: 'actor' };
      return by.kind === 'os_user' || hasScope(by.scopes, operator) ? null : { reason: 'scope', scope: operator };
    }
    if (member === undefined) return { reason: 'actor' };
    const { area, level, whileSuspended } = member;
    if (!mayAccess(by.role, area, level)) return { reason: 'role', roles: rolesWith(area, level) };
    if (by.merchantState === 'approved' || whileSuspended) return null;
    return { reason: 'merchant_state', state: by.merchantState };
  }
}

/** What a log and a request have of the input. */
function withoutSecrets({ shape }: z.ZodObject, input: object): object {
  const fields: Readonly<Record<string, z.ZodType>> = shape;
  return Object.fromEntries(Object.entries(input).filter(([name]) => fields[name]?.meta()?.isSecret !== true));
}
