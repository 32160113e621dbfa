import { Pool, type Dispatcher } from 'undici';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

const DEADLINE_MS = 30_000;

/** A client of one server that costs as little as undici can: the generator must not be what is measured. */
export class Http {
  readonly #pool: Pool;

  constructor(origin: string) {
    this.#pool = new Pool(origin, { connections: 256, headersTimeout: DEADLINE_MS, bodyTimeout: DEADLINE_MS });
  }

  /** @throws where no whole answer comes within 30 s */
  send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, headers: Record<string, string>, body?: string) {
    return new Promise<Answer>((resolve, reject) => {
      this.#pool.dispatch({ method, path, headers, body: body ?? null }, new AnswerHandler(resolve, reject));
    });
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

class AnswerHandler implements Dispatcher.DispatchHandler {
  #status = 0;
  readonly #chunks: Buffer[] = [];

  constructor(
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  // undici tells the two kinds of handlers apart by this one.
  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const whole = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.resolve({ status: this.#status, text: whole.toString('utf8') });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.reject(error);
  }
}
