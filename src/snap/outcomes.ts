import type { SnapResponse } from './response';

/** The services that Lunas calls: 16, 18 and 36. */
export const SNAP_SERVICES = {
  account_inquiry: '16',
  interbank_transfer: '18',
  transfer_status: '36',
} as const;
export type SnapService = keyof typeof SNAP_SERVICES;

/** `done`: the bank did what was requested. A response of another kind than these is indeterminate. */
export type SnapOutcome = 'done' | 'rejected' | 'not_found' | 'indeterminate';

type Row = readonly [
  httpStatus: number,
  cases: readonly string[],
  outcomes: Readonly<Record<SnapService, SnapOutcome>>,
];

const onlyTransferIsRejected = {
  account_inquiry: 'indeterminate',
  interbank_transfer: 'rejected',
  transfer_status: 'indeterminate',
} as const;
const statusIsIndeterminate = { ...onlyTransferIsRejected, account_inquiry: 'rejected' } as const;

/**
 * What a response means, by HTTP status and case (SNAP BI, "Response Code"). A pair that is not here is indeterminate:
 * so are our credentials (401), limits of the account (403 04, 06, 16, 19; 404 08, 16), a transfer in progress (202), a
 * number that is in use (404 18, 409), and errors of the server. For the status of a transfer, only one row proves
 * that the bank does not know it.
 */
export const SNAP_OUTCOMES: readonly Row[] = [
  [200, ['00'], { account_inquiry: 'done', interbank_transfer: 'done', transfer_status: 'done' }],
  // The request is invalid, or a field of it.
  [400, ['00', '01', '02'], statusIsIndeterminate],
  // Above the limit, suspected fraud, our balance, not permitted.
  [403, ['02', '03', '14', '15'], onlyTransferIsRejected],
  // The beneficiary's account is dormant, or inactive.
  [403, ['09', '18'], statusIsIndeterminate],
  // Invalid state, invalid amount.
  [404, ['00', '13'], onlyTransferIsRejected],
  [404, ['01'], { ...onlyTransferIsRejected, transfer_status: 'not_found' }],
  // There is no such account.
  [404, ['11'], statusIsIndeterminate],
  // Not supported, or not allowed now.
  [405, ['00', '01'], onlyTransferIsRejected],
];

const OUTCOMES_BY_CASE: ReadonlyMap<string, Readonly<Record<SnapService, SnapOutcome>>> = new Map(
  SNAP_OUTCOMES.flatMap(([httpStatus, cases, outcomes]) =>
    cases.map((caseCode) => [`${httpStatus} ${caseCode}`, outcomes] as const),
  ),
);

/** HTTP status and case of a response, such as `403 14`. */
export function caseOf({ httpStatus, caseCode }: Pick<SnapResponse, 'httpStatus' | 'caseCode'>): string {
  return `${httpStatus} ${caseCode}`;
}

/** What the response to a call of this service means. */
export function classify(service: SnapService, response: Pick<SnapResponse, 'httpStatus' | 'caseCode'>): SnapOutcome {
  return OUTCOMES_BY_CASE.get(caseOf(response))?.[service] ?? 'indeterminate';
}

/** The token has expired, or the bank does not know it. */
const TOKEN_REJECTIONS: ReadonlySet<string> = new Set(['401 01', '401 03']);

export function isTokenRejected(response: Pick<SnapResponse, 'httpStatus' | 'caseCode'>): boolean {
  return TOKEN_REJECTIONS.has(caseOf(response));
}
