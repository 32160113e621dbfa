import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { ApiError, unknownAddress } from '../../http/api-error';
import { publicEndpoint, type EndpointResponse, type PublicEndpoint } from '../../http/endpoint';
import type { HttpDependencies } from '../../http/http-dependencies';
import { RateBucket } from '../../http/rate-limit/rate-bucket';
import { PAGE_HEADERS } from '../page/headers';
import { DocsSite, type DocumentedService, type ResultsKind } from './docs-site';
import { findDocsFile } from './files';
import { parseOpenapi } from './openapi-document';

type DocsDependencies = DocumentedService & Pick<HttpDependencies, 'publicBudget'>;

/** A search takes some milliseconds of the event loop that creates payments. A network has two a second by default. */
const REQUESTS_OF_SEARCH = 25;
/** Searches of all networks, in a process: a fortieth of its time. */
const SEARCHES_PER_SECOND = 5;

/**
 * The pages of the documents: guides, reference, search.
 * @param openapi the body of `/openapi.json`
 */
export function getDocs(openapi: string): PublicEndpoint<DocsDependencies>[] {
  const document = parseOpenapi(JSON.parse(openapi));
  const sites = new WeakMap<DocumentedService, DocsSite>();
  const searches = new RateBucket(SEARCHES_PER_SECOND);
  const siteOf = (service: DocumentedService) => {
    const site = sites.get(service) ?? new DocsSite(document, service);
    sites.set(service, site);
    return site;
  };
  type Respond = (request: Request, site: DocsSite, dependencies: DocsDependencies) => Promise<EndpointResponse>;
  const get = (path: string, respond: Respond) =>
    publicEndpoint({
      method: 'get',
      path,
      countsAgainstNetworkLimit: true,
      handler: (dependencies: DocsDependencies, request) => respond(request, siteOf(dependencies), dependencies),
      failurePage(dependencies, { httpStatus, headers }, request) {
        if (httpStatus !== 429 || !wantsPage(request)) return null;
        return { status: 429, headers: { ...headers, ...PAGE_HEADERS }, body: siteOf(dependencies).busyPage() };
      },
    });
  const respondWithResults =
    (kind: ResultsKind): Respond =>
    async (request, site, { publicBudget }) => {
      const query = queryOf(request);
      const known = site.findResults(query, kind);
      if (known !== undefined) return pageResponse(request, known);
      publicBudget.count(request, REQUESTS_OF_SEARCH - 1);
      if (!searches.has(1)) return busyResponse(kind === 'page' ? site.busySearchPage() : '');
      searches.take(1);
      return pageResponse(request, await site.search(query, kind));
    };
  return [
    get('/docs', findPage),
    get('/docs/search', respondWithResults('page')),
    get('/docs/search/results', respondWithResults('hits')),
    get('/docs/:page', async (request, site) => (await markdownResponse(request, site)) ?? findPage(request, site)),
    get('/docs/api/:page', findPage),
  ];
}

async function findPage(request: Request, site: DocsSite): Promise<EndpointResponse> {
  const html = await site.find(request.path.replace(/\/$/, ''));
  if (html !== undefined) return pageResponse(request, html);
  if (!wantsPage(request)) throw unknownAddress();
  return { status: 404, headers: PAGE_HEADERS, body: site.missingPage() };
}

const busyResponse = (body: string): EndpointResponse => ({
  status: 429,
  headers: { ...PAGE_HEADERS, 'Retry-After': '2' },
  body,
});

/** The style, the script and the icon of the pages. Their names contain a hash of their content. */
export const getDocsFile = publicEndpoint({
  method: 'get',
  path: '/docs/files/:file',
  countsAgainstNetworkLimit: true,
  async handler(_dependencies, { params }) {
    const file = findDocsFile(String(params.file));
    if (!file) throw new ApiError('not_found', 'There is no such file.');
    return {
      status: 200,
      headers: { 'Content-Type': file.contentType, 'Cache-Control': 'public, max-age=31536000, immutable' },
      body: file.content,
    };
  },
});

export const whereDocuments = (publicBaseUrl: string) => `The documents are at ${publicBaseUrl}/docs.`;

/** A browser that opens the address of the API gets the documents. */
export const getRoot = publicEndpoint({
  method: 'get',
  path: '/',
  countsAgainstNetworkLimit: true,
  async handler({ publicBaseUrl }: { readonly publicBaseUrl: string }, request) {
    if (wantsPage(request)) return { status: 302, headers: { Location: '/docs' }, body: '' };
    throw unknownAddress(whereDocuments(publicBaseUrl));
  },
});

/** Browsers name HTML; programs take anything, or JSON. */
const wantsPage = (request: Request) => request.accepts(['json', 'html']) === 'html';

const MAX_QUERY_LENGTH = 100;

function queryOf({ query }: Request): string {
  return typeof query.q === 'string' ? query.q.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_QUERY_LENGTH) : '';
}

/** A browser asks each time whether its copy is current, since an update of the service changes the pages. */
function pageResponse(request: Request, html: string): EndpointResponse {
  const etag = `"${createHash('sha256').update(html).digest('base64url')}"`;
  const headers = { ...PAGE_HEADERS, 'Cache-Control': 'no-cache', ETag: etag };
  return isCurrent(request, etag) ? { status: 304, headers, body: '' } : { status: 200, headers, body: html };
}

/** A proxy that compresses makes the tag a weak one (RFC 9110, 8.8.3.3). */
function isCurrent(request: Request, etag: string): boolean {
  const tags = request.get('if-none-match')?.split(',') ?? [];
  return tags.some((tag) => tag.trim().replace('W/', '') === etag);
}

/** `/docs/quick-start.md`: the guide as Markdown, for tools. */
async function markdownResponse({ params }: Request, site: DocsSite): Promise<EndpointResponse | undefined> {
  const [, name = ''] = /^(.+)\.md$/.exec(String(params.page)) ?? [];
  const body = await site.findMarkdown(name);
  if (body === undefined) return undefined;
  const headers = { 'Content-Type': 'text/markdown; charset=utf-8', 'Cache-Control': 'public, max-age=3600' };
  return { status: 200, headers, body };
}
