import type { IncomingHttpHeaders } from 'node:http';
import { Pool, type Dispatcher } from 'undici';

export interface HttpResponse {
  readonly status: number;
  readonly text: string;
  /** The address of what a POST has created. */
  readonly location: string | undefined;
}

const TIMEOUT_MS = 30_000;

/** undici's cheapest interface: the generator must not be the bottleneck. */
export class Http {
  readonly #pool: Pool;

  constructor(origin: string) {
    this.#pool = new Pool(origin, { connections: 256, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  }

  /** @throws Error if the response is not complete after 30 s */
  send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, headers: Record<string, string>, body?: string) {
    return new Promise<HttpResponse>((resolve, reject) => {
      this.#pool.dispatch({ method, path, headers, body: body ?? null }, new ResponseHandler(resolve, reject));
    });
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

class ResponseHandler implements Dispatcher.DispatchHandler {
  #status = 0;
  #location: string | undefined;
  readonly #chunks: Buffer[] = [];

  constructor(
    private readonly resolve: (response: HttpResponse) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  // undici recognizes the new kind of handler by this method.
  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#location = headers.location;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const whole = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.resolve({ status: this.#status, text: whole.toString('utf8'), location: this.#location });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.reject(error);
  }
}
