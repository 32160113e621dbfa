import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';

export interface PageResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly location: string | undefined;
}

type Headers = Readonly<Record<string, string>>;

/** What a browser does without rendering: it keeps cookies, and names its own origin with forms. */
export class HttpBrowser {
  readonly cookies = new Map<string, string>();

  constructor(readonly origin: string) {}

  get(path: string, headers: Headers = {}): Promise<PageResponse> {
    return this.#send('GET', path, '', headers);
  }

  /** @param fields pairs, because a field can be sent twice */
  post(
    path: string,
    fields: readonly (readonly [name: string, value: string])[] = [],
    headers: Headers = { 'sec-fetch-site': 'same-origin' },
  ): Promise<PageResponse> {
    const body = fields.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
    return this.#send('POST', path, body, { 'content-type': 'application/x-www-form-urlencoded', ...headers });
  }

  /** Sends a form with a file. */
  async upload(path: string, field: string, file: Buffer): Promise<PageResponse> {
    const form = new FormData();
    form.set(field, new File([Uint8Array.from(file)], 'logo.png', { type: 'image/png' }));
    const encoded = new Response(form);
    const headers = { 'content-type': encoded.headers.get('content-type') ?? '', 'sec-fetch-site': 'same-origin' };
    return this.#send('POST', path, Buffer.from(await encoded.arrayBuffer()), headers);
  }

  /** The header `Cookie`. */
  get cookie(): string {
    return [...this.cookies].map((pair) => pair.join('=')).join('; ');
  }

  async #send(method: string, path: string, body: string | Buffer, headers: Headers): Promise<PageResponse> {
    const cookie = this.cookies.size === 0 ? {} : { cookie: this.cookie };
    const sent = httpRequest(new URL(path, this.origin), {
      method,
      headers: { 'accept-language': 'en', ...cookie, ...headers },
    });
    sent.end(body);
    const [response] = await once(sent, 'response');
    for (const header of response.headers['set-cookie'] ?? []) this.#keep(header);
    const { location } = response.headers;
    return { status: response.statusCode, headers: response.headers, body: await text(response), location };
  }

  #keep(header: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
    if (/max-age=0/i.test(header)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** The value of a hidden field. */
export function hiddenField({ body }: PageResponse, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(body)?.[1] ?? '';
}
