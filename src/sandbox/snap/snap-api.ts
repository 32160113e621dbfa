import express, { Router, type Request, type Response } from 'express';
import type { Bank } from '../bank/bank';
import { inquire, showTransferStatus, transfer } from '../bank/bank-services';
import { behaviourOf } from '../bank/magic-accounts';
import type { FaultKind, Faults } from '../faults';
import { respond } from '../respond';
import { checkRequest, checkTokenRequest, FailedCheck, type CheckedRequest, type SnapRequest } from './check-request';
import { SNAP_PROFILE_NAMES, SNAP_PROFILES, type SnapMerchants, type SnapProfileName } from './merchants';
import { snapProtocol, type FacadeResponse, type ServiceName } from './snap-response';

const BODY_LIMIT = '64kb';
const TOKEN_PATH = '/v1.0/access-token/b2b';

/** The paths of the bank's services, after the prefix of the profile. */
const SERVICE_PATHS = {
  inquiry: '/account-inquiry-external',
  transfer: '/transfer-interbank',
  transfer_status: '/transfer/status',
} as const satisfies Partial<Record<ServiceName, string>>;

/** What the acquirer responds if the armed fault is `reject`. */
const REJECTIONS: Readonly<Record<ServiceName, FacadeResponse>> = {
  token: { case: '401 00' },
  inquiry: { case: '404 11' },
  transfer: { case: '403 15' },
  transfer_status: { case: '429 00' },
};

export interface SnapDependencies {
  readonly merchants: SnapMerchants;
  readonly bank: Bank;
  readonly faults: Faults;
  readonly wakeNotifiers: () => void;
}

/** SNAP BI of each profile, at a mount of its own. The mount is not a part of the signed path. */
export function snapApi(dependencies: SnapDependencies): Router {
  const router = Router();
  router.use('/snap', express.raw({ type: () => true, limit: BODY_LIMIT }));
  for (const profile of SNAP_PROFILE_NAMES) router.use(`/snap/${profile}`, profileApi(profile, dependencies));
  return router;
}

function profileApi(profile: SnapProfileName, dependencies: SnapDependencies): Router {
  const { merchants, bank } = dependencies;
  const router = Router();
  const { calls, pathPrefix } = SNAP_PROFILES[profile];

  if (calls === 'hmac_with_token') {
    router.post(TOKEN_PATH, (request, response) =>
      serve(dependencies, requestOf(request, profile, 'token'), response, async (snapRequest) => {
        const merchant = await checkTokenRequest(merchants, snapRequest);
        const { token, seconds } = await merchants.issueToken(merchant);
        // Midtrans sends the number as a text.
        const fields = { accessToken: token, tokenType: 'Bearer', expiresIn: String(seconds) };
        return { case: '200 00', fields };
      }),
    );
  }
  const add = (service: keyof typeof SERVICE_PATHS, work: (checked: CheckedRequest) => Work) =>
    router.post(pathPrefix + SERVICE_PATHS[service], (request, response) =>
      serve(dependencies, requestOf(request, profile, service), response, async (snapRequest) =>
        work(await checkRequest(merchants, snapRequest)),
      ),
    );
  add('inquiry', (checked) => Promise.resolve(inquire(checked)));
  add('transfer', (checked) => transfer(bank, checked));
  add('transfer_status', (checked) => showTransferStatus(bank, checked));
  return router;
}

type Work = Promise<FacadeResponse>;

function requestOf(request: Request, profile: SnapProfileName, service: ServiceName): SnapRequest {
  const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return { profile, service, path: request.path, headers: request.headers, rawBody };
}

/** Responds with the result of `work`, or with the armed fault, or with that of the account number. */
async function serve(
  { faults, wakeNotifiers }: SnapDependencies,
  request: SnapRequest,
  response: Response,
  work: (request: SnapRequest) => Work,
): Promise<void> {
  const fault = faults.take(request.service) ?? accountFault(request);
  response.set('x-timestamp', new Date().toISOString());
  const result = fault === 'reject' ? () => REJECTIONS[request.service] : () => work(request).catch(responseOf);
  await respond(fault, response, result, snapProtocol(request.service));
  wakeNotifiers();
}

function responseOf(error: unknown): FacadeResponse {
  if (error instanceof FailedCheck) return error.response;
  throw error;
}

/** The fault that calls for this account number always have. */
function accountFault({ service, rawBody }: SnapRequest): FaultKind | undefined {
  const number = /"beneficiaryAccountNo"\s*:\s*"(\d+)"/.exec(rawBody.toString('latin1'))?.[1];
  if (number === undefined) return undefined;
  const { inquiryFault, transferFault } = behaviourOf(number);
  return service === 'inquiry' ? inquiryFault : service === 'transfer' ? transferFault : undefined;
}
