import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { internalError, type AcquirerResponse } from './responses';
import { SLOW_MS, type FaultKind } from './faults';

export type Work = () => AcquirerResponse | Promise<AcquirerResponse>;

/** Responds with the result of `work`, or with the fault. */
export async function respond(fault: FaultKind | undefined, response: Response, work: Work): Promise<void> {
  switch (fault) {
    case 'timeout':
      return; // The connection stays open until the caller or the server closes it.
    case 'reset':
      return reset(response);
    case 'http_500':
      return send(response, internalError());
    case 'accept_then_timeout':
      await work();
      return;
    case 'accept_then_reset':
      await work();
      return reset(response);
    case 'half_body': {
      const text = JSON.stringify(await work());
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.write(text.slice(0, text.length / 2), () => reset(response));
      return;
    }
    case 'slow': {
      const body = await work();
      await sleep(SLOW_MS);
      return send(response, body);
    }
    case 'reject':
    case 'forgotten_key':
    case 'bad_signature':
    case 'silent':
    case undefined:
      return send(response, await work());
  }
}

function reset(response: Response): void {
  response.socket?.resetAndDestroy();
}

/** Midtrans responds with HTTP 200 to all requests except these. */
const HTTP_ERRORS: ReadonlySet<string> = new Set(['400', '401', '413', '429', '500']);

export function send(response: Response, body: AcquirerResponse): void {
  response.status(HTTP_ERRORS.has(body.status_code) ? Number(body.status_code) : 200).json(body);
}
