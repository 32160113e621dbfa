import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { validate as isUuid } from 'uuid';
import { findOpenedLink, type OpenedLink } from '../../../db/links/find-opened-link';
import { readRupiah, RUPIAH_TEXT } from '../../../domain/money';
import { linkStatusOf } from '../../../domain/payment-link';
import { UNPAID_FINAL_STATUSES } from '../../../domain/payment-transitions';
import { publicEndpoint, type EndpointResponse } from '../../../http/endpoint';
import { openLink, type LinkOpening, type OpenLinkDependencies } from '../../../services/links/open-link';
import type { CheckoutDependencies } from '../checkout-dependencies';
import { pageHeaders } from '../checkout-headers';
import { failureResponse } from '../failure-response';
import { languageOf } from '../find-checkout-page';
import type { LinkPageState } from './link-state';

type LinkPageDependencies = Pick<
  CheckoutDependencies,
  'keylessDb' | 'linkAddresses' | 'checkoutLinks' | 'linkPages' | 'checkoutPages'
>;

type LinkOpenDependencies = LinkPageDependencies & Omit<OpenLinkDependencies, 'db'>;

const PATH = '/link/:token';
const MAX_FORM_BYTES = 4 * 1_024;
/** The limits of a link are by minute, or end with a payment. */
const RETRY_AFTER_SECONDS = 60;

/** The page of a link. It creates nothing: chats open links to preview them. */
export const getLinkPage = publicEndpoint({
  method: 'get',
  path: PATH,
  countsAgainstNetworkLimit: true,
  failurePage: failureResponse,
  async handler(dependencies: LinkPageDependencies, request) {
    const link = await findOwnLink(dependencies, request);
    if (!link) return unknownLink(dependencies, request);
    const state = await stateOf(dependencies, link, Date.now());
    return showLink(dependencies, { request, link }, { status: 200, state });
  },
});

/** Creates the payment of a visitor, or finds the one that exists, and leads to its checkout page. */
export const openLinkPage = publicEndpoint({
  method: 'post',
  path: PATH,
  countsAgainstNetworkLimit: true,
  readsBody: true,
  maxBytes: MAX_FORM_BYTES,
  failurePage: failureResponse,
  async handler(dependencies: LinkOpenDependencies, request) {
    const link = await findOwnLink(dependencies, request);
    if (!link) return unknownLink(dependencies, request);
    const visitor = { request, link };
    const now = new Date();
    const state = await stateOf(dependencies, link, now.getTime());
    if (state.kind === 'ended') return showLink(dependencies, visitor, { status: 409, state });
    const { attempt, amount } = readForm(request);
    const amountRupiah = link.amountRupiah ?? readAmount(link, amount);
    if (attempt === null || amountRupiah === null) {
      const again = { ...FORM, amount, hasAmountError: amountRupiah === null } as const;
      return showLink(dependencies, visitor, { status: 422, state: again, attempt });
    }
    const services = { ...dependencies, db: dependencies.keylessDb };
    const opened = await openLink(services, { link, attempt, amountRupiah, now });
    return respond(dependencies, visitor, { opened, attempt, amount });
  },
});

const FORM = { kind: 'form', amount: '', hasAmountError: false, problem: null } as const satisfies LinkPageState;

interface Visitor {
  readonly request: Request;
  readonly link: OpenedLink;
}

async function findOwnLink(
  { keylessDb, linkAddresses }: LinkPageDependencies,
  { params }: Request,
): Promise<OpenedLink | undefined> {
  const linkId = await linkAddresses.idOf(String(params.token));
  return linkId === undefined ? undefined : findOpenedLink(keylessDb, linkId);
}

/** What a visitor can do now. */
async function stateOf(
  { checkoutLinks }: LinkPageDependencies,
  link: OpenedLink,
  nowMs: number,
): Promise<LinkPageState> {
  const status = linkStatusOf(link, nowMs);
  if (status !== 'active') return { kind: 'ended', end: status };
  if (link.merchantStatus !== 'approved') return { kind: 'ended', end: 'not_possible' };
  const { newest, amountRupiah } = link;
  if (amountRupiah !== null || newest === null) return FORM;
  const { status: current, fingerprint, amountRupiah: chosen, expiresAtMs: untilMs, paymentId: id } = newest;
  // The number has no payment yet: this visitor creates it.
  if (current === null || fingerprint === null || chosen === null || untilMs === null) return FORM;
  if (UNPAID_FINAL_STATUSES.includes(current)) return FORM;
  return { kind: 'other_amount', amountRupiah: chosen, untilMs, href: await checkoutLinks.urlOf({ id, fingerprint }) };
}

function readForm({ body }: Request): { readonly attempt: string | null; readonly amount: string } {
  const fields = new URLSearchParams(Buffer.isBuffer(body) ? body.toString('utf8') : '');
  const attempt = fields.get('attempt') ?? '';
  return { attempt: isUuid(attempt) ? attempt.toLowerCase() : null, amount: (fields.get('amount') ?? '').trim() };
}

/** The amount that the customer has typed; null: it is none, or outside of the bounds. */
function readAmount({ minimumRupiah, maximumRupiah }: OpenedLink, text: string): number | null {
  if (minimumRupiah === null || maximumRupiah === null || !RUPIAH_TEXT.test(text)) return null;
  const rupiah = readRupiah(text);
  return rupiah >= minimumRupiah && rupiah <= maximumRupiah ? rupiah : null;
}

interface Sent {
  readonly opened: LinkOpening;
  readonly attempt: string;
  readonly amount: string;
}

async function respond(
  dependencies: LinkPageDependencies,
  visitor: Visitor,
  { opened, attempt, amount }: Sent,
): Promise<EndpointResponse> {
  const form = { ...FORM, amount } as const;
  switch (opened.outcome) {
    case 'opened': {
      const url = new URL(await dependencies.checkoutLinks.urlOf(opened.payment));
      url.searchParams.set('lang', languageOf(visitor.request));
      return { status: 303, headers: { Location: url.href, 'Cache-Control': 'no-store' }, body: '' };
    }
    case 'other_amount': {
      const link = (await findOpenedLink(dependencies.keylessDb, visitor.link.id)) ?? visitor.link;
      const state = await stateOf(dependencies, link, Date.now());
      return showLink(dependencies, visitor, { status: 409, state, attempt });
    }
    case 'no_result':
      return showLink(dependencies, visitor, { status: 503, state: { ...form, problem: 'no_result' }, attempt });
    case 'too_many_new':
    case 'too_many_open':
      return showLink(dependencies, visitor, { status: 429, state: { ...form, problem: 'too_many' }, attempt });
    default:
      return showLink(dependencies, visitor, { status: 409, state: { kind: 'ended', end: opened.outcome } });
  }
}

interface Shown {
  readonly status: number;
  readonly state: LinkPageState;
  /** The id of the form that was sent; null or absent: a new one. */
  readonly attempt?: string | null;
}

function showLink(
  { linkPages }: LinkPageDependencies,
  { request, link }: Visitor,
  { status, state, attempt }: Shown,
): EndpointResponse {
  const page = { link, state, attempt: attempt ?? randomUUID(), language: languageOf(request) };
  const retry = status === 429 ? { 'Retry-After': String(RETRY_AFTER_SECONDS) } : {};
  const headers = { ...pageHeaders(link.checkoutOrigins, 'self'), ...retry };
  return { status, headers, body: linkPages.page(page) };
}

function unknownLink({ linkPages }: LinkPageDependencies, request: Request): EndpointResponse {
  return { status: 404, headers: pageHeaders([]), body: linkPages.unknown(languageOf(request)) };
}
