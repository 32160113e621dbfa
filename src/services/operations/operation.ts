import type { z } from 'zod';
import { scopeOf, type Person, type Scope } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import { mayAccess, rolesWith, type AccessLevel, type MemberArea } from '../../domain/member-roles';
import type { AuditDependencies } from '../audit/audit';
import { recordAct } from './record-act';
import type { Performed, Reasons, Rejection, Result, RunRejection } from './rejections';

/** Which members may perform an operation. */
export interface MemberAccess {
  readonly area: MemberArea;
  readonly level: AccessLevel;
  /** They have to have proved their identity shortly before. */
  readonly stepUp?: true;
  /** It takes rights away, so a merchant that is suspended or not approved can do it too. */
  readonly whileSuspended?: true;
}

/** Members, operators, or both may perform an operation. */
type Actors =
  | { readonly member: MemberAccess; readonly operator?: true }
  | { readonly member?: undefined; readonly operator: true };

/** One act of a person: the object that was found, and what was chosen. */
export interface Act<Needs, Subject, Input> {
  readonly needs: Needs;
  readonly by: Person;
  readonly subject: Subject;
  readonly input: Input;
  /** The id of the form or of the HTTP request: a repeat has the same one. */
  readonly formId: string;
}

type Spec<
  Name extends string,
  Path extends z.ZodObject,
  Input extends z.ZodObject,
  R extends Reasons,
  Needs extends AuditDependencies,
  Subject,
  Value,
> = Actors & {
  /** `subject.verb`: the name in the audit log. */
  readonly name: Name;
  /** The ids of the object. */
  readonly path: Path;
  /** What is chosen. */
  readonly input: Input;
  readonly rejections: R;
  /** @throws NotFoundError if the person reaches no such object */
  readonly load: (needs: Needs, scope: Scope, path: z.output<Path>) => Promise<Subject>;
  /** The id in the audit log. */
  readonly target: (act: Pick<Act<Needs, Subject, z.output<Input>>, 'subject' | 'input' | 'formId'>) => string;
  /** Why the person cannot do it to this object. A form shows it above its button, and `run` asks again. */
  readonly allows?: (subject: Subject, by: Person) => Rejection<R> | null;
  /** What the same form has done before; null: nothing yet. `allows` is not asked then. */
  readonly earlier?: (act: Act<Needs, Subject, z.output<Input>>) => Promise<Value | null>;
  readonly perform: (act: Act<Needs, Subject, z.output<Input>>) => Promise<Performed<Value, R>>;
};

/** What a door sends to `run`. */
export interface Call<Path extends z.ZodObject, Input extends z.ZodObject> {
  readonly path: z.input<Path>;
  readonly input: z.input<Input>;
  readonly formId: string;
  /** Why an operator does it. */
  readonly note?: string | undefined;
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
    return this.#spec.operator === true;
  }

  get path(): Path {
    return this.#spec.path;
  }

  get input(): Input {
    return this.#spec.input;
  }

  get rejections(): R {
    return this.#spec.rejections;
  }

  /** Whether a form that is sent twice is executed once. */
  get findsRepeats(): boolean {
    return this.#spec.earlier !== undefined;
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
    const { load, allows } = this.#spec;
    const subject = await load(needs, scopeOf(by), this.path.parse(path));
    return { subject, rejection: this.#rejectionOf(by) ?? allows?.(subject, by) ?? null };
  }

  /**
   * Performs the operation. The order: parse, load, person, earlier, allows, audit row, perform, outcome. Nothing
   * before the audit row writes.
   * @throws ZodError if path or input do not parse: a door checks them before
   * @throws NotFoundError if the person reaches no such object
   * @throws every error of `perform`; the outcome in the audit log is then indeterminate
   */
  async run(needs: Needs, by: Person, { note, formId, ...sent }: Call<Path, Input>): Promise<Result<Value, R>> {
    const { load, target, allows, earlier, perform } = this.#spec;
    const [path, input] = [this.path.parse(sent.path), this.input.parse(sent.input)];
    const subject = await load(needs, scopeOf(by), path);
    const refused = this.#rejectionOf(by);
    if (refused !== null) return { outcome: 'rejected', rejection: refused };
    const act = { needs, by, subject, input, formId };
    const before = earlier === undefined ? null : await earlier(act);
    if (before !== null) return { outcome: 'done', value: before, isRepeat: true };
    const rejection = allows?.(subject, by) ?? null;
    if (rejection !== null) return { outcome: 'rejected', rejection };
    const entry = { action: this, target: target(act), note, detail: JSON.stringify({ ...path, ...input }) };
    const performed = await recordAct(needs, by, entry, () => perform(act));
    return performed.outcome === 'done' ? { ...performed, isRepeat: false } : performed;
  }

  /** Why the person may not do it to any object at present. */
  #rejectionOf(by: Person): RunRejection | null {
    const { member } = this.#spec;
    if (by.kind !== 'merchant_user') return this.isForOperators ? null : { reason: 'actor' };
    if (member === undefined) return { reason: 'actor' };
    const { area, level, whileSuspended } = member;
    if (!mayAccess(by.role, area, level)) return { reason: 'role', roles: rolesWith(area, level) };
    if (by.merchantState === 'approved' || whileSuspended) return null;
    return { reason: 'merchant_state', state: by.merchantState };
  }
}
