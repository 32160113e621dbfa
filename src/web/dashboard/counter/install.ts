import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { LANGUAGES, type Language } from '../../../domain/sign-in';
import { PACKAGE_ROOT } from '../../../package-info';
import { PAGE_HEADERS } from '../../page/headers';
import { PageError } from '../../page/page-error';
import { merchantCode } from '../../page/page-path';
import { NO_FIELDS, publicPage } from '../../page/page-route';
import { shortenScript, UI_FILES } from '../../ui/published-files';
import { APP_ICONS, COUNTER_FILES, COUNTER_SHOWN_SCRIPT, DASHBOARD_FILES, QR_FILES } from '../files';
import { homePath, pageResponse } from '../merchant-view';
import { renderMessagePage } from '../message-page';
import { counterPath, manifestPath, offlinePath, workerPath } from './counter-paths';
import { COUNTER_TEXTS } from './counter-texts';

/** What the worker keeps besides the page without a connection. */
const KEPT = [DASHBOARD_FILES, COUNTER_FILES, QR_FILES, { scripts: [COUNTER_SHOWN_SCRIPT] }]
  .flatMap((files) => Object.values(files))
  .flat();

const renderOfflinePage = (language: Language): string => {
  const { title, text, again } = COUNTER_TEXTS[language].offline;
  return renderMessagePage({ language, title, lines: [text], links: [{ href: '', label: again }] });
};

/** The worker of this version: another version of what it keeps is another worker, which the browser installs. */
const WORKER = workerOf([offlinePath.to({}), ...KEPT], LANGUAGES.map(renderOfflinePage).join(''));

function workerOf(files: readonly string[], pages: string): string {
  const version = createHash('sha256').update(pages).update(files.join()).digest('hex').slice(0, 8);
  const source = readFileSync(path.resolve(PACKAGE_ROOT, UI_FILES, 'counter-worker.js'), 'utf8');
  return `const CACHE = 'counter-${version}', FILES = ${JSON.stringify(files)};\n${shortenScript(source)}`;
}

/** What a browser shows of the counter while it has no connection. It has no data. */
export const showOffline = publicPage({
  method: 'get',
  path: offlinePath.pattern,
  fields: NO_FIELDS,
  handler: (_dependencies: object, { language }) => Promise.resolve(pageResponse(renderOfflinePage(language))),
});

/** The worker of the counter's app. A response of 404 would remove it from browsers. */
export const getWorker = publicPage({
  method: 'get',
  path: workerPath.pattern,
  fields: NO_FIELDS,
  handler: () =>
    Promise.resolve({
      status: 200,
      headers: { ...PAGE_HEADERS, 'Content-Type': 'text/javascript; charset=utf-8', 'Cache-Control': 'no-cache' },
      body: WORKER,
    }),
});

const PNG = 'image/png';
const ICONS = [
  { src: APP_ICONS.small, sizes: '192x192', type: PNG },
  { src: APP_ICONS.large, sizes: '512x512', type: PNG },
  { src: APP_ICONS.maskable, sizes: '512x512', type: PNG, purpose: 'maskable' },
] as const;

/** Browsers fetch it without cookies: it contains nothing but the code that was sent. */
export const getManifest = publicPage({
  method: 'get',
  path: manifestPath.pattern,
  fields: z.object({ code: merchantCode }),
  handler: (_dependencies: object, { language }, query) => {
    if (!query.ok) throw new PageError('not_found', 'the manifest needs the code of a merchant');
    const { code } = query.values;
    const manifest = {
      id: counterPath.to({ code }),
      name: `Lunas · ${COUNTER_TEXTS[language].title}`,
      short_name: COUNTER_TEXTS[language].title,
      lang: language,
      start_url: counterPath.to({ code }),
      scope: `${homePath.to({ code })}/`,
      display: 'standalone',
      background_color: '#f4f6f5',
      theme_color: '#0b6b4b',
      icons: ICONS,
    };
    const headers = { ...PAGE_HEADERS, 'Content-Type': 'application/manifest+json; charset=utf-8' };
    return Promise.resolve({ status: 200, headers, body: JSON.stringify(manifest) });
  },
});
