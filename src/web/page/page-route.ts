import type { Request } from 'express';
import { z } from 'zod';
import type { AccessLevel, MemberArea } from '../../domain/member-roles';
import type { Language } from '../../domain/sign-in';
import type { EndpointResponse } from '../../http/endpoint';
import type { Membership, Session } from '../../services/identity/sessions';
import { PageError } from './page-error';
import { parseFields, type FormResult } from './read-form';
import type { Upload, UploadField } from './read-upload';

/**
 * Who may open a page: everyone, a user whose sign-in is not complete, every signed-in user, or a member whose role
 * reaches the level in the area.
 */
export type PageAccess =
  'public' | 'pending' | 'signed_in' | { readonly area: MemberArea; readonly level: AccessLevel };

/** A request for a page, and who makes it. */
export interface Visit {
  readonly request: Request;
  readonly language: Language;
  readonly now: Date;
  /** The user is signed in. */
  readonly session: Session | null;
  /** The second factor of the user is missing (`password`), or has to be set first (`enrol`). */
  readonly pending: Session | null;
  /** The query of a GET, the form of a POST. */
  readonly fields: URLSearchParams;
  /** The file of a form that has one; `missing` for every other page. */
  readonly upload: Upload;
  /** The page to which the browser returns, by the field `then`: home unless it is one of ours. */
  readonly returnPath: string;
  /** Whether the session, read again, may still open the page. For a response that outlives its request. */
  readonly mayStillSee: () => Promise<boolean>;
}

/** A visit of a page that a sign-in needs to be completed. */
export interface PendingVisit extends Visit {
  readonly pending: Session;
}

export interface UserVisit extends Visit {
  readonly session: Session;
}

/** A visit of a page of the merchant in the path. */
export interface MemberVisit extends UserVisit {
  readonly member: Membership;
}

export interface PageRoute<Dependencies> {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly access: PageAccess;
  /** The user has to have proved their identity: within 5 minutes for a GET, and 15 for a POST. */
  readonly stepUp?: boolean;
  /** Whether a sign-in may return to this page; by default those of signed-in users. */
  readonly isReturnTarget?: boolean;
  /** The form has a file, and nothing else. */
  readonly upload?: UploadField;
  /** @throws PageError */
  readonly respond: (dependencies: Dependencies, visit: Visit) => Promise<EndpointResponse>;
}

interface PageDefinition<Dependencies, V, Values> {
  readonly method: 'get' | 'post';
  readonly path: string;
  /** See `PageRoute.stepUp`. */
  readonly stepUp?: true;
  readonly isReturnTarget?: boolean;
  /** See `PageRoute.upload`. */
  readonly upload?: UploadField;
  /** The fields of the query or the form. */
  readonly fields: z.ZodType<Values>;
  readonly handler: (dependencies: Dependencies, visit: V, fields: FormResult<Values>) => Promise<EndpointResponse>;
}

/** For a page that reads neither query nor form. */
export const NO_FIELDS = z.object({});

/** A page for everyone. */
export function publicPage<Dependencies, Values>({
  handler,
  fields,
  ...route
}: PageDefinition<Dependencies, Visit, Values>): PageRoute<Dependencies> {
  return {
    ...route,
    access: 'public',
    respond: async (dependencies, visit) => handler(dependencies, visit, parseFields(fields, visit.fields)),
  };
}

/** A page for a user whose sign-in is not complete. The handler looks at the stage. */
export function pendingPage<Dependencies, Values>({
  handler,
  fields,
  ...route
}: PageDefinition<Dependencies, PendingVisit, Values>): PageRoute<Dependencies> {
  return {
    ...route,
    access: 'pending',
    async respond(dependencies, visit) {
      const { pending } = visit;
      if (pending === null) throw new PageError('signed_out');
      return handler(dependencies, { ...visit, pending }, parseFields(fields, visit.fields));
    },
  };
}

/** A page for every signed-in user, of no merchant. */
export function userPage<Dependencies, Values>({
  handler,
  fields,
  ...route
}: PageDefinition<Dependencies, UserVisit, Values>): PageRoute<Dependencies> {
  return {
    ...route,
    access: 'signed_in',
    async respond(dependencies, visit) {
      const { session } = visit;
      if (session === null) throw new PageError('signed_out');
      return handler(dependencies, { ...visit, session }, parseFields(fields, visit.fields));
    },
  };
}

/** A page of the merchant in the path. */
export function memberPage<Dependencies, Values>(
  access: Exclude<PageAccess, string>,
  { handler, fields, ...route }: PageDefinition<Dependencies, MemberVisit, Values>,
): PageRoute<Dependencies> {
  return {
    ...route,
    access,
    async respond(dependencies, visit) {
      const { session } = visit;
      if (session === null) throw new PageError('signed_out');
      if (session.membership === null) throw new PageError('not_found', 'the user is no member of the merchant');
      return handler(
        dependencies,
        { ...visit, session, member: session.membership },
        parseFields(fields, visit.fields),
      );
    },
  };
}

/** After a POST: the browser reads the page at the path. Never another origin: `form-action` would stop it. */
export function redirectTo(path: string, cookies: readonly string[] = []): EndpointResponse {
  return { status: 303, headers: { Location: path, 'Cache-Control': 'no-store' }, cookies, body: '' };
}
