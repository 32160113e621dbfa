import type { z } from 'zod';
import type { Person, Scope } from '../../domain/actor';
import type { RequiredScope } from '../../domain/key-access';
import type { AccessLevel, MemberArea } from '../../domain/member-roles';
import type { AuditDependencies } from '../audit/audit';
import type { Performed, Reasons, Rejection, RejectionTexts, Unknown } from './rejections';

/** Which members may perform an operation. */
export interface MemberAccess {
  readonly area: MemberArea;
  readonly level: AccessLevel;
  /** Whether members have to have proved their identity shortly before. */
  readonly stepUp?: true;
  /** Whether it is possible while a merchant is suspended or not approved, when it takes no payments. */
  readonly whileSuspended?: true;
}

/** Members, operators, or both may perform an operation; the scope is that of the operator's key. */
type Actors =
  | { readonly member: MemberAccess; readonly operator?: RequiredScope }
  | { readonly member?: undefined; readonly operator: RequiredScope };

/** One act of a person: the object that was found, and what was chosen. */
export interface Act<Needs, Subject, Input> {
  readonly needs: Needs;
  readonly by: Person;
  readonly subject: Subject;
  readonly input: Input;
  /** The id of the form or of the HTTP request: a repeat has the same one. */
  readonly formId: string;
  /** Why an operator does it. Members give no reason. */
  readonly note: string | undefined;
  /** What two operators have agreed on; null: one person acts alone. */
  readonly approval: Agreed | null;
  /** The Unix time after which the person no longer waits; null: none. */
  readonly deadlineAtMs: number | null;
}

/** An approved request of another operator. */
export interface Agreed {
  /** The version of the object that the request replaces; null: it names none. */
  readonly replaces: number | null;
}

export type ApprovalExecution = 'database' | 'workflow';

/** What must not stand in the request that a second operator reads, such as a key. */
export interface Proposal {
  /** What stands there instead: an approved request is performed with it as path and input. */
  readonly parameters: object;
  /** Keeps it for the approval, after the row of the audit log. */
  readonly store: () => Promise<unknown>;
}

/** What a second operator has to approve in production. */
export interface ApprovalSpec<Needs, Subject, Input> {
  /**
   * Where it takes effect: in one transaction with the decision, or in the workflow of a payment or payout, which has
   * its own record of a repeat.
   */
  readonly executes: ApprovalExecution;
  /** Whether one operator may do it alone. Absent: never. */
  readonly isExempt?: (subject: Subject) => boolean;
  /** What the operator who decides reads, if the id in the audit log is too little. */
  readonly target?: (act: ActOn<Subject, Input>) => string;
  /**
   * The object in the stored request. Absent: as the person named it. A person can name some objects in two ways, and
   * the same request is stored once.
   */
  readonly path?: (subject: Subject) => object;
  /** What it moves, for the operator who decides, in rupiah. Null: not known. Absent: it moves none. */
  readonly amountRupiah?: (act: ActOn<Subject, Input>) => number | null;
  /** Who receives the amount: a rule limits what single operators do for one merchant in 24 hours. */
  readonly merchantId?: (subject: Subject, input: Input) => string | null;
  /** The version in force. If there is a newer one at the approval, the request is superseded. */
  readonly replaces?: (subject: Subject) => number | null;
  /** Absent or null: path and input stand in the request, without secrets. */
  readonly propose?: (act: Act<Needs, Subject, Input>) => Proposal | null;
}

export type ActOn<Subject, Input> = { readonly subject: Subject; readonly input: Input; readonly formId: string };

/** The declaration of an operation. */
export type Spec<
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
  /** What is chosen. No log and no request has a field with `.meta({ isSecret: true })`. */
  readonly input: Input;
  readonly rejections: R;
  /** The sentence of each reason, for operators and for the audit log. */
  readonly messages: RejectionTexts<R>;
  /** @throws NotFoundError if the person reaches no such object */
  readonly load: (needs: Needs, scope: Scope, path: z.output<Path>, by: Person) => Promise<Subject>;
  /** The id in the audit log. */
  readonly target: (act: ActOn<Subject, z.output<Input>>) => string;
  /** What the audit log has of the act, if path and input are too little, or have what the log must not have. */
  readonly detail?: (act: Act<Needs, Subject, z.output<Input>>) => object;
  /**
   * Why the person cannot do it to this object. A form shows it above its button, before an input is chosen; `run` asks
   * again, with the input.
   */
  readonly allows?: (subject: Subject, by: Person, input?: z.output<Input>) => Rejection<R> | null;
  /** What the same form has done before; null: nothing yet. `allows` is not asked then. */
  readonly earlier?: (act: Act<Needs, Subject, z.output<Input>>) => Promise<Value | null>;
  /** Whether `perform` finds by itself what the same form has done before. */
  readonly findsRepeats?: true;
  /** Absent: an operator acts alone. Members never need it. */
  readonly approval?: ApprovalSpec<Needs, Subject, z.output<Input>>;
  /**
   * Whether the person has to prove who they are before they do it to this object. `run` asks after the audit row, so
   * acts at the same time count one another.
   */
  readonly needsProof?: (needs: Needs, by: Person, subject: Subject) => Promise<boolean>;
  /** Executes `run` for one object one after the other, in this process. Absent: at the same time. */
  readonly inTurn?: <Done>(
    needs: Needs,
    target: { readonly path: z.output<Path>; readonly scope: Scope },
    work: (deadlineAtMs: number | null) => Promise<Done>,
  ) => Promise<Done | Unknown>;
  readonly perform: (act: Act<Needs, Subject, z.output<Input>>) => Promise<Performed<Value, R>>;
  /** Why a value is not complete, for the audit log, which then has no success; null: it is. Absent: it always is. */
  readonly incomplete?: (value: Value) => string | null;
};

/** What a door sends to `run`. */
export interface Call<Path extends z.ZodObject, Input extends z.ZodObject> {
  readonly path: z.input<Path>;
  readonly input: z.input<Input>;
  readonly formId: string;
  /** Why an operator does it. */
  readonly note?: string | undefined;
}

/** A call of a person, or an approved request, before it is parsed. */
export interface Started {
  readonly path: unknown;
  readonly input: unknown;
  readonly formId: string;
  readonly note?: string | undefined;
  /** Null: no request of two operators. */
  readonly approval: Agreed | null;
}
