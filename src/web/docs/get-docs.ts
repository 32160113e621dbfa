import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ApiError } from '../../http/api-error';
import { publicEndpoint } from '../../http/endpoint';
import { GUIDE_FILES, readGuide } from './guides';
import { CONTENT_SECURITY_POLICY, PAGE, SCRIPT, STYLE } from './page';

const VIEWER_DIRECTORY = path.dirname(require.resolve('swagger-ui-dist/package.json'));

/** Each file is read once. Its bytes are shared by all responses: slow readers of 1.7 MB would fill the memory. */
function once<Content>(read: () => Promise<Content>): () => Promise<Content> {
  let content: Promise<Content> | undefined;
  return () => (content ??= read());
}

const viewerFile = (name: string) => once(() => readFile(path.join(VIEWER_DIRECTORY, name)));

const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';

interface DocsFile {
  readonly contentType: string;
  readonly read: () => Promise<Buffer | string> | string;
}

/** All that the page loads, files of the npm package and two of our own, and the guides. */
const FILES = new Map<string, DocsFile>([
  ['swagger-ui.css', { contentType: CSS, read: viewerFile('swagger-ui.css') }],
  ['swagger-ui-bundle.js', { contentType: JAVASCRIPT, read: viewerFile('swagger-ui-bundle.js') }],
  ['favicon-32x32.png', { contentType: 'image/png', read: viewerFile('favicon-32x32.png') }],
  ['docs.css', { contentType: CSS, read: () => STYLE }],
  ['docs.js', { contentType: JAVASCRIPT, read: () => SCRIPT }],
  ...GUIDE_FILES.map((file): [string, DocsFile] => [
    file,
    { contentType: MARKDOWN, read: once(() => readGuide(file)) },
  ]),
]);

/** The documentation as a page: Swagger UI renders `/openapi.json`. */
export const getDocs = publicEndpoint({
  method: 'get',
  path: '/docs',
  countsAgainstNetworkLimit: true,
  handler: () =>
    Promise.resolve({
      status: 200,
      headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': CONTENT_SECURITY_POLICY },
      body: PAGE,
    }),
});

export const getDocsFile = publicEndpoint({
  method: 'get',
  path: '/docs/:file',
  countsAgainstNetworkLimit: true,
  async handler(_dependencies, { params }) {
    const file = FILES.get(String(params.file));
    if (!file) throw new ApiError('not_found', 'There is no such file.');
    return {
      status: 200,
      headers: { 'Content-Type': file.contentType, 'Cache-Control': 'public, max-age=3600' },
      body: await file.read(),
    };
  },
});
