import type { Protocol } from '../respond';

/** The codes of the services: the token, and those of the bank. */
export const SERVICE_CODES = { token: '73', inquiry: '16', transfer: '18', transfer_status: '36' } as const;
export type ServiceName = keyof typeof SERVICE_CODES;

/** The responses of the façade (SNAP BI, "Response Code"). */
export const SNAP_MESSAGES = {
  '200 00': 'Successful',
  '400 01': 'Invalid Field Format',
  '400 02': 'Invalid Mandatory Field',
  '401 00': 'Unauthorized. Signature',
  '401 01': 'Access Token Invalid',
  '401 03': 'Token Not Found',
  '403 06': 'Feature Not Allowed At This Time. Cut-off In Progress',
  '403 14': 'Insufficient Funds',
  '403 15': 'Transaction Not Permitted',
  '403 18': 'Inactive Account',
  '404 01': 'Transaction Not Found',
  '404 11': 'Invalid Account',
  '409 00': 'Conflict',
  '409 01': 'Duplicate partnerReferenceNo',
  '429 00': 'Too Many Requests',
  '500 00': 'General Error',
} as const;
export type SnapCase = keyof typeof SNAP_MESSAGES;

export interface FacadeResponse {
  readonly case: SnapCase;
  /** About the error, or the fields of a success. */
  readonly detail?: string;
  readonly fields?: object;
}

/** The code of a response has the HTTP status, the service and the case. */
export function snapProtocol(service: ServiceName): Protocol<FacadeResponse> {
  return {
    render({ case: pair, detail, fields }) {
      const [httpStatus = '', caseCode = ''] = pair.split(' ');
      const responseMessage = detail === undefined ? SNAP_MESSAGES[pair] : `${SNAP_MESSAGES[pair]} ${detail}`;
      const responseCode = `${httpStatus}${SERVICE_CODES[service]}${caseCode}`;
      return { httpStatus: Number(httpStatus), body: { responseCode, responseMessage, ...fields } };
    },
    internalError: () => ({ case: '500 00' }),
  };
}
