import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { MemberActor } from '../../domain/actor';
import type { EndpointResponse } from '../../http/endpoint';
import type { AuditDependencies } from '../../services/audit/audit';
import type { ofMerchant } from '../../services/merchants/merchants';
import type { Operation } from '../../services/operations/operation';
import {
  isRunRejection,
  rejectionText,
  type Reasons,
  type Rejection,
  type RejectionTexts,
  type RUN_REASONS,
  type RunRejection,
} from '../../services/operations/rejections';
import { requireDone } from '../../services/operations/require-done';
import { isTimeout } from '../../temporal/grpc-errors';
import { attributesOf, type FormAttributes } from '../page/field-attributes';
import { isDatabaseAway, orNoPage } from '../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit, type PageRoute } from '../page/page-route';
import { parseFields, type FieldErrors, type SentFields } from '../page/read-form';
import { SIGN_IN_PATHS, withReturn } from '../page/return-paths';
import type { DashboardDependencies } from './dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from './merchant-view';
import { memberActor } from './user-identity';

/** What every page of a form shows or depends on. */
export interface FormVisit {
  readonly view: MerchantView;
  /** The address of the user's browser. */
  readonly address: string;
  readonly now: Date;
}

/** What the page of a form shows. */
export interface FormPage<Subject> extends FormVisit, FormState {
  readonly subject: Subject;
  /** What the browser checks of each field. */
  readonly attributes: FormAttributes;
}

interface FormState {
  /** A repeat of the form has the same one. */
  readonly formId: string;
  /** What was sent; null: the form is opened. */
  readonly sent: SentFields | null;
  /** A text for each invalid field. */
  readonly errors: FieldErrors;
  /** Why the form cannot be sent; null: it can. */
  readonly rejection: string | null;
  /** What happened to the form that was sent; null: nothing, or the rejection has it. */
  readonly problem: string | null;
}

/** The texts of the codes that the fields of a form have as messages. `form` is the text of every other code. */
type ErrorTexts = Readonly<Record<string, string>> & { readonly form: string };

interface FormPages<
  Parts,
  Name extends string,
  Path extends z.ZodObject,
  Input extends z.ZodObject,
  R extends Reasons,
  Subject,
  Value,
> {
  readonly at: { readonly pattern: string; readonly read: (parts: Readonly<Record<string, unknown>>) => Parts };
  readonly operation: Operation<Name, Path, Input, R, DashboardDependencies, Subject, Value>;
  /** The ids of the object. */
  readonly path: (parts: Parts & { readonly merchant: string }) => z.input<Path>;
  /** Whether the query of the page fills in the form. */
  readonly isFilledByQuery?: true;
  /** The fields of the form, which become the input of the operation. Their messages are codes of `errors`. */
  readonly fields: (visit: FormVisit) => z.ZodType<z.input<Input>>;
  readonly errors: (view: MerchantView) => ErrorTexts;
  readonly rejections: (view: MerchantView) => RejectionTexts<R>;
  /**
   * The fields beside which the texts of reasons stand (422), for nested reasons a function. The texts of the others
   * stand above the button (409).
   */
  readonly fieldOf?:
    | { readonly [Reason in keyof R & string]?: string }
    | ((rejection: Rejection<R> | RunRejection) => string | undefined);
  /** Whether too many forms were sent, so that the same form can be sent again later (429). */
  readonly isLimit?: (rejection: Rejection<R> | RunRejection) => boolean;
  /** The text above the button if it is not known what was done: without a response in time (200), or else (503). */
  readonly unknown?: (view: MerchantView) => { readonly late: string; readonly other: string };
  /**
   * What happened to a form that was not executed, for a page that shows its object as it is now, and why the form
   * cannot be sent any more. Null as rejection: it is not known what was done, and the same form can be sent again.
   * Null as result: the text of the reason is enough.
   */
  readonly problem?: (view: MerchantView, rejection: Rejection<R> | RunRejection | null) => string | null;
  readonly render: (page: FormPage<Subject>, dependencies: DashboardDependencies) => string | Promise<string>;
  /** The path to which the browser goes then, or a page with a secret. */
  readonly done: (
    value: Value,
    visit: FormVisit & { readonly dependencies: DashboardDependencies },
  ) => string | EndpointResponse;
}

/**
 * The two pages of a form of a member: the form, and what it does. The order of a POST: parse, run, then the page that
 * follows, or the form again with the reason above its button (409) or beside its fields (422). A limit is 429, and
 * 503 means that nothing was requested, or that it is not known what was done. Who has to prove who they are does that
 * first, also before they see the form.
 */
export function memberFormPages<
  Parts extends object,
  Name extends string,
  Path extends z.ZodObject,
  Input extends z.ZodObject,
  R extends Reasons,
  Subject,
  Value,
>(form: FormPages<Parts, Name, Path, Input, R, Subject, Value>): readonly PageRoute<DashboardDependencies>[] {
  const { member, name } = form.operation;
  if (member === undefined) throw new Error(`${name} is not for members`);
  const page = { path: form.at.pattern, fields: NO_FIELDS, ...(member.stepUp && { stepUp: member.stepUp }) };
  const of = (dependencies: DashboardDependencies, visit: MemberVisit) => new SentForm(form, dependencies, visit);
  return [
    memberPage(member, {
      ...page,
      method: 'get',
      handler: (dependencies, visit, { sent }) =>
        of(dependencies, visit).show(200, form.isFilledByQuery ? { sent } : {}),
    }),
    memberPage(member, { ...page, method: 'post', handler: (dependencies, visit) => of(dependencies, visit).submit() }),
  ];
}

/** One request for a form. */
class SentForm<
  Parts extends object,
  Name extends string,
  Path extends z.ZodObject,
  Input extends z.ZodObject,
  R extends Reasons,
  Subject,
  Value,
> {
  private readonly formVisit: FormVisit;
  private readonly by: MemberActor;
  private readonly path: z.input<Path>;

  /** @throws PageError `not_found` if the path is not possible */
  constructor(
    private readonly form: FormPages<Parts, Name, Path, Input, R, Subject, Value>,
    private readonly dependencies: DashboardDependencies,
    private readonly visit: MemberVisit,
  ) {
    this.by = memberActor(visit);
    this.formVisit = { view: merchantView(dependencies, visit), address: this.by.address, now: visit.now };
    this.path = form.path({ ...form.at.read(visit.request.params), merchant: visit.member.merchantId });
  }

  async submit(): Promise<EndpointResponse> {
    const { form, formVisit, dependencies } = this;
    const parsed = parseFields(form.fields(formVisit), this.visit.fields);
    const { sent } = parsed;
    const formId = formIdOf(sent) ?? (form.operation.findsRepeats ? null : randomUUID());
    const texts = form.errors(formVisit.view);
    if (formId === null) return this.show(422, { sent, rejection: texts.form });
    if (!parsed.ok) return this.show(422, { sent, formId, errors: textsOf(texts, parsed.errors) });
    const call = { path: this.path, input: parsed.values, formId };
    const result = await form.operation.run(dependencies, this.by, call).catch(orNoPage);
    if (result.outcome === 'waits') throw new Error(`A member waits for approval ${result.approvalId}`);
    if (result.outcome === 'rejected') {
      if (result.rejection.reason === 'step_up') return this.toStepUp();
      return this.showRejected({ sent, formId }, result.rejection);
    }
    if (result.outcome === 'unknown') return this.showUnknown({ sent, formId }, result.error);
    const next = form.done(result.value, { ...formVisit, dependencies });
    return typeof next === 'string' ? redirectTo(next) : next;
  }

  private showRejected(
    state: Pick<FormState, 'formId' | 'sent'>,
    rejection: Rejection<R> | RunRejection,
  ): Promise<EndpointResponse> {
    const text = this.textOf(rejection);
    const field = this.fieldOf(rejection);
    if (field !== undefined) return this.show(422, { ...state, errors: { [field]: text } });
    const status = this.form.isLimit?.(rejection) ? 429 : rejection.reason === 'temporal_away' ? 503 : 409;
    const problem = this.form.problem?.(this.formVisit.view, rejection) ?? null;
    return this.show(status, problem === null ? { ...state, rejection: text } : { ...state, problem });
  }

  private fieldOf(rejection: Rejection<R> | RunRejection): string | undefined {
    const { fieldOf } = this.form;
    if (typeof fieldOf === 'function') return fieldOf(rejection);
    return isRunRejection(rejection) ? undefined : fieldOf?.[rejection.reason];
  }

  private showUnknown({ sent, formId }: Pick<FormState, 'formId' | 'sent'>, error: unknown): Promise<EndpointResponse> {
    const { problem, unknown } = this.form;
    const { view } = this.formVisit;
    if (problem !== undefined && !isDatabaseAway(error)) {
      return this.show(503, { sent, formId, problem: problem(view, null) });
    }
    if (unknown === undefined) throw error;
    const { late, other } = unknown(view);
    return isTimeout(error) ? this.show(200, { sent, rejection: late }) : this.show(503, { sent, rejection: other });
  }

  async show(status: number, state: Partial<FormState> = {}): Promise<EndpointResponse> {
    const { form, formVisit, dependencies, by, path } = this;
    const { subject, rejection } = await form.operation.preview(dependencies, by, path).catch(orNoPage);
    if (rejection?.reason === 'step_up') return this.toStepUp();
    const found = rejection === null ? null : this.textOf(rejection);
    const opened = { formId: randomUUID(), sent: null, errors: {}, rejection: found, problem: null };
    const page = { ...formVisit, subject, attributes: attributesOf(form.fields(formVisit)), ...opened, ...state };
    return pageResponse(await form.render(page, dependencies), status);
  }

  /** The browser proves who its user is, and returns to the page of the form. */
  private toStepUp(): EndpointResponse {
    return redirectTo(withReturn(SIGN_IN_PATHS.stepUp, this.visit.request.path));
  }

  private textOf(rejection: Rejection<R> | RunRejection): string {
    const { view } = this.formVisit;
    return memberText(view, this.form.rejections(view), rejection);
  }
}

/**
 * Performs the operation of a form that has no page of its own, on the merchant of the path.
 * @throws PageError `not_found` if the member reaches no such object
 * @throws ConflictError if it is rejected: the page with the form shows why beforehand
 */
export async function submitForm<
  Name extends string,
  Input extends z.ZodObject,
  R extends Reasons,
  Needs extends AuditDependencies,
  Subject,
  Value,
>(
  operation: Operation<Name, typeof ofMerchant.path, Input, R, Needs, Subject, Value>,
  needs: Needs,
  visit: MemberVisit,
  input: z.input<Input>,
): Promise<Value> {
  const call = { path: { merchant: visit.member.merchantId }, input, formId: randomUUID() };
  return requireDone(await operation.run(needs, memberActor(visit), call).catch(orNoPage));
}

/** Why a member cannot perform an operation, in their language. */
export function memberText<R extends Reasons>(
  view: MerchantView,
  texts: RejectionTexts<R>,
  rejection: Rejection<R> | RunRejection,
): string {
  return isRunRejection(rejection) ? rejectionText(runTexts(view), rejection) : rejectionText(texts, rejection);
}

/** A form with one button has the version of the object that its page showed. Another text is none that it has. */
export const shownVersion = z.object({ version: z.coerce.number().int().catch(0) });

const formIdOf = (sent: SentFields) => z.uuid().safeParse(sent.form_id).data;

/** The texts of the codes of a form's fields. */
function textsOf(texts: ErrorTexts, codes: FieldErrors): FieldErrors {
  return Object.fromEntries(Object.entries(codes).map(([field, code]) => [field, texts[code] ?? texts.form]));
}

/** The texts of the reasons that `run` finds by itself. */
export function runTexts({ texts, onlyRoles }: MerchantView): RejectionTexts<typeof RUN_REASONS> {
  return {
    actor: () => onlyRoles([]),
    role: ({ roles }) => onlyRoles(roles),
    merchant_state: ({ state }) => texts.merchantStates[state],
    step_up: () => texts.proveFirst,
    // Only operators have keys with scopes, and a limit.
    scope: () => onlyRoles([]),
    day_limit: () => onlyRoles([]),
  };
}
