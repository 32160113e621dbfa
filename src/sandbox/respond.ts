import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { SLOW_MS, type FaultKind } from './faults';

/** How an API of the sandbox sends a result. */
export interface Protocol<Result> {
  readonly render: (result: Result) => { readonly httpStatus: number; readonly body: object };
  readonly internalError: () => Result;
}

/** Responds with the result of `work`, or with the fault. */
export async function respond<Result>(
  fault: FaultKind | undefined,
  response: Response,
  work: () => Result | Promise<Result>,
  protocol: Protocol<Result>,
): Promise<void> {
  switch (fault) {
    case 'timeout':
      return; // The connection stays open until the caller or the server closes it.
    case 'reset':
      return reset(response);
    case 'http_500':
      return send(response, protocol.internalError(), protocol);
    case 'accept_then_timeout':
      await work();
      return;
    case 'accept_then_reset':
      await work();
      return reset(response);
    case 'half_body': {
      const text = JSON.stringify(protocol.render(await work()).body);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.write(text.slice(0, text.length / 2), () => reset(response));
      return;
    }
    case 'slow': {
      const result = await work();
      await sleep(SLOW_MS);
      return send(response, result, protocol);
    }
    case 'reject':
    case 'forgotten_key':
    case 'bad_signature':
    case 'silent':
    case undefined:
      return send(response, await work(), protocol);
  }
}

function reset(response: Response): void {
  response.socket?.resetAndDestroy();
}

export function send<Result>(response: Response, result: Result, { render }: Protocol<Result>): void {
  const { httpStatus, body } = render(result);
  response.status(httpStatus).json(body);
}
