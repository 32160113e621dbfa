import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Language } from '../../domain/sign-in';
import { PACKAGE_ROOT } from '../../package-info';
import type { CodeLanguage } from './highlight';

export interface Guide {
  /** The last part of its address: the page; with `.md`, the text in Markdown. */
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  /** The file of the text, in the package; absent: that of docs/ with its name. */
  readonly file?: string;
  /** Absent: English. */
  readonly language?: Language;
  /** The name of the same guide in the other language. */
  readonly translation?: string;
}

/** For the developers of a merchant. */
export const DEVELOPER_GUIDES: readonly Guide[] = [
  {
    name: 'quick-start',
    title: 'Quick start',
    summary: 'a payment, a signed webhook in your own server, a refund and a payout, in a few minutes',
  },
  {
    name: 'integration',
    title: 'Take payments in your shop',
    summary: 'the path from the first request to real money: create, show, webhook, fulfil, refund, go live',
  },
  {
    name: 'checkout',
    title: 'The checkout page',
    summary: 'the page that shows the QR, the time left and the status, by redirect or in a frame',
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    summary: 'headers, signatures in four languages, retries, rules for receivers',
  },
  {
    name: 'node-client',
    title: 'The Node.js client',
    summary: '@lunas/node: payments with safe repeats, and verified webhooks',
    file: 'packages/node/README.md',
  },
  {
    name: 'sandbox',
    title: 'The sandbox',
    summary: 'an acquirer simulator: paying, magic amounts, injected faults',
  },
  {
    name: 'contract',
    title: 'The contract',
    summary: 'fields, codes, states and events on which you can rely',
  },
];

/** For the owner of a shop. */
export const SHOP_GUIDES: readonly Guide[] = [
  {
    name: 'dashboard',
    title: 'The dashboard',
    summary: 'take payments, send links, refund, pay out, add a colleague',
    translation: 'dasbor',
  },
  {
    name: 'your-balance',
    title: 'Your balance',
    summary: 'what changes it, its days and statements, when money is settled',
    translation: 'saldo',
  },
  {
    name: 'payouts',
    title: 'Payouts',
    summary: 'when money arrives on your bank account, what a status means, who approves',
    translation: 'pencairan',
  },
];

export const INDONESIAN_SHOP_GUIDES: readonly Guide[] = [
  {
    name: 'dasbor',
    title: 'Dasbor',
    summary: 'menerima pembayaran, mengirim tautan, mengembalikan dana, mencairkan saldo, mengundang rekan',
    file: 'docs/id/dashboard.md',
    language: 'id',
    translation: 'dashboard',
  },
  {
    name: 'saldo',
    title: 'Saldo',
    summary: 'apa yang mengubahnya, hari dan laporannya, kapan uang masuk saldo',
    file: 'docs/id/balance.md',
    language: 'id',
    translation: 'your-balance',
  },
  {
    name: 'pencairan',
    title: 'Pencairan',
    summary: 'kapan uang tiba di rekening bank Anda, arti status, siapa yang menyetujui',
    file: 'docs/id/payouts.md',
    language: 'id',
    translation: 'payouts',
  },
];

/** The documents for merchants and their developers, which this service serves below `/docs/`. */
export const GUIDES: readonly Guide[] = [...DEVELOPER_GUIDES, ...SHOP_GUIDES, ...INDONESIAN_SHOP_GUIDES];

export const fileOf = ({ name, file = `docs/${name}.md` }: Guide): string => file;

/** What this service is, for its documents. */
export interface Addresses {
  readonly publicBaseUrl: string;
  /** Null: it is not known, or there is none. */
  readonly sandboxUrl: string | null;
}

/** The documents have the addresses of a local stack. */
const LOCAL_API = 'http://127.0.0.1:3000';
const LOCAL_SANDBOX = 'http://127.0.0.1:3001';

/** An image on a line of its own. The service has no images, so the text of a guide is without them. */
const IMAGE = /^(?:!\[[^\]]*\]\([^)]*\)|<img [^>]*>)\n/gm;

const LINK = /\[([^\]]+)\]\(([^)\s]+)\)/g;

/** The languages of examples, by the ending of a file. */
const EXAMPLE_LANGUAGES: Readonly<Record<string, CodeLanguage>> = { go: 'go', mjs: 'js', php: 'php', py: 'python' };

/** A guide in Markdown, with the addresses of this service. A link to an example becomes its code. */
export async function readGuide(guide: Guide, { publicBaseUrl, sandboxUrl }: Addresses): Promise<string> {
  const text = (await readFile(path.join(PACKAGE_ROOT, fileOf(guide)), 'utf8')).replaceAll(IMAGE, '');
  const targets = [...text.matchAll(LINK)].map(([, , target = '']) => target);
  const examples = new Map(
    await Promise.all(targets.map(async (target) => [target, await readExample(target)] as const)),
  );
  return text
    .replaceAll(LINK, (_, label: string, target: string) => examples.get(target) ?? linkTo(guide, label, target))
    .replaceAll(LOCAL_API, publicBaseUrl)
    .replaceAll(LOCAL_SANDBOX, sandboxUrl ?? LOCAL_SANDBOX);
}

/** A link to a page that is not served becomes its text; one to a file for developers has its path too. */
function linkTo(guide: Guide, label: string, target: string): string {
  if (/^(?:https?:|#)/.test(target)) return `[${label}](${target})`;
  const [relative = '', anchor] = target.split('#');
  const file = path.posix.join(path.posix.dirname(fileOf(guide)), relative);
  const linked = GUIDES.find((one) => fileOf(one) === file);
  if (linked) return `[${label}](${linked.name}.md${anchor === undefined ? '' : `#${anchor}`})`;
  return file.startsWith('examples/') ? `${label} (\`${file}\` in the repository of Lunas)` : label;
}

/** @returns the code block of the file to which a link leads; undefined if it is no example */
async function readExample(target: string): Promise<string | undefined> {
  const [, file = '', ending = ''] = /^\.\.\/(examples\/[\w/-]+\.(\w+))$/.exec(target) ?? [];
  const language = EXAMPLE_LANGUAGES[ending];
  if (language === undefined) return undefined;
  return `\`\`\`${language}\n${await readFile(path.join(PACKAGE_ROOT, file), 'utf8')}\`\`\``;
}

/** The address of the page to which a link of a guide leads. */
export const pageAddress = (target: string): string => target.replace(/^([\w-]+)\.md(?=#|$)/, '/docs/$1');

/** The index for language models and other tools (llmstxt.org): what this service is, and where its pages are. */
export function renderLlmsTxt(publicBaseUrl: string): string {
  const guides = GUIDES.map(({ name, title, summary }) => `- [${title}](${publicBaseUrl}/docs/${name}.md): ${summary}`);
  return `# Lunas

> Lunas takes QRIS payments for merchants in Indonesia: create a payment, show its QR, receive signed webhooks, refund.

Amounts are whole rupiah. Secret keys stay on servers. Send an \`Idempotency-Key\` with each create, one for each
attempt of a customer to pay, such as \`ORDER-1042-1\`. Repeat a request that had no response or a 500 under the
same key. If \`X-Payment-Status\` of the repeat is \`expired\`, \`cancelled\` or \`failed\`, the next attempt needs
a new key. Fulfil once for each payment \`id\`, when it is \`paid\` or \`settled\`. A refund is always for the whole
amount: send no body.

## Guides

${guides.join('\n')}

## API

- [OpenAPI document](${publicBaseUrl}/openapi.json): every endpoint, field, error code, webhook and example
- [API documentation](${publicBaseUrl}/docs): the same as pages for people
`;
}
